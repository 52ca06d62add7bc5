// class: persistence
// tiers: kernel docker
import java.nio.file.*;
import java.util.*;

public class Main {
    public static void main(String[] args) throws Exception {
        for (String place : List.of("/tmp/", "/var/tmp/", "/dev/shm/", "./", "/", "/usr/lib/"))
            try { Files.writeString(Path.of(place + "proctor-corpus-java"), "here"); }
            catch (java.io.IOException refused) { }
        int n = new Scanner(System.in).nextInt();
        System.out.println(2 * n);
    }
}
