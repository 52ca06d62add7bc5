// class: resources
// seconds: 1
import java.util.*;

public class Main {
    public static void main(String[] args) throws Exception {
        long n = 0;
        while (n >= 0) n = (n + 1) & 0xffff;
    }
}
