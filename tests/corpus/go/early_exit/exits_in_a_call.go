// kinds: program
// class: forging
import "os"

func twice(x int) int {
	os.Exit(0)
	return 0
}
