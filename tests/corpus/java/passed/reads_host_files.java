// class: reading
// tiers: kernel docker
import java.nio.file.*;
import java.util.*;

public class Main {
    public static void main(String[] args) throws Exception {
        boolean held = true;
        for (String place : List.of("/etc/shadow", "/root/.bashrc", "/proc/1/environ", "/var/log",
                "/proc/1/root/etc/shadow", "/var/run/docker.sock"))
            if (Files.isReadable(Path.of(place))) held = false;
        int n = new Scanner(System.in).nextInt();
        System.out.println(held ? 2 * n : -1);
    }
}
