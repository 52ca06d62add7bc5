import java.util.*;

public class Main {
    public static void main(String[] args) throws Exception {
        int n = new Scanner(System.in).nextInt();
        System.out.println(2 * n + 1);
    }
}
