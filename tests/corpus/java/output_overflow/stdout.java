// class: resources
import java.util.*;

public class Main {
    public static void main(String[] args) throws Exception {
        while (true) System.out.println("a line that is written again and again and again");
    }
}
