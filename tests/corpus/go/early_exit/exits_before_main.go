// kinds: program
// class: forging
import "os"

func init() {
	os.Exit(0)
}

func twice(x int) int {
	return 0
}
