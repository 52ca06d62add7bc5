import java.util.*;

public class Main {
    public static void main(String[] args) throws Exception {
        int n = new Scanner(System.in).nextInt();
        int[] sum = new int[1];
        Thread thread = new Thread(() -> sum[0] = 2 * n);
        thread.start();
        thread.join();
        System.out.println(sum[0]);
    }
}
