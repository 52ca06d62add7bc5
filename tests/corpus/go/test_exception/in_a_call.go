// kinds: program
func twice(x int) int {
	panic("cannot")
}
