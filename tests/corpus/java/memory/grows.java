// class: resources
import java.util.*;

public class Main {
    public static void main(String[] args) throws Exception {
        List<byte[]> all = new ArrayList<>();
        while (true) all.add(new byte[1 << 20]);
    }
}
