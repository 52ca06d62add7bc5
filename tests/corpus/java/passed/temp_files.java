import java.nio.file.*;
import java.util.*;

public class Main {
    public static void main(String[] args) throws Exception {
        int n = new Scanner(System.in).nextInt();
        Path file = Files.createTempFile("number", ".txt");
        Files.writeString(file, String.valueOf(2 * n));
        System.out.println(Files.readString(file));
    }
}
