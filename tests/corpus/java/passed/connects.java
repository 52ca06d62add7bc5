// class: network
// tiers: kernel docker
import java.io.*;
import java.net.*;
import java.util.*;

public class Main {
    public static void main(String[] args) throws Exception {
        boolean held = true;
        for (String where : List.of("127.0.0.1", "169.254.169.254", "1.1.1.1"))
            for (int port : new int[] {22, 53, 80, 8000})
                try (Socket socket = new Socket()) {
                    socket.connect(new InetSocketAddress(where, port), 100);
                    held = false;
                } catch (IOException refused) { }
        int n = new Scanner(System.in).nextInt();
        System.out.println(held ? 2 * n : -1);
    }
}
