// kinds: program
func twice(x int) int {
	return x * x
}
