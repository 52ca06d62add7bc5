// class: resources
// seconds: 1
import java.util.*;

public class Main {
    public static void main(String[] args) throws Exception {
        Object never = new Object();
        synchronized (never) { never.wait(); }
    }
}
