// class: resources
// seconds: 1
import java.util.*;

public class Main {
    public static void main(String[] args) throws Exception {
        Thread.sleep(100000);
    }
}
