import java.util.*;

public class Main {
    public static void main(String[] args) throws Exception {
        Twice twice = new Twice();
    }
}
