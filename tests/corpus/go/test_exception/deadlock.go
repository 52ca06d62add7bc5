package main

import (
	"sync"
)

func main() {
	var lock sync.Mutex
	lock.Lock()
	lock.Lock()
}
