// class: resources
// memory: 1024
import java.util.*;

public class Main {
    static int deep(int n) { return deep(n + 1) + n; }

    public static void main(String[] args) throws Exception {
        System.out.println(deep(1));
    }
}
