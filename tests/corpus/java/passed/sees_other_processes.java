// class: processes
// tiers: kernel docker
import java.util.*;

public class Main {
    public static void main(String[] args) throws Exception {
        boolean held = ProcessHandle.allProcesses().count() <= 1;
        ProcessHandle.allProcesses().forEach(one -> {
            try { one.destroyForcibly(); } catch (IllegalStateException self) { }
        });
        int n = new Scanner(System.in).nextInt();
        System.out.println(held ? 2 * n : -1);
    }
}
