package main

import (
	"fmt"
	"sync"
)

func main() {
	var n, sum int
	fmt.Scan(&n)
	var wait sync.WaitGroup
	var lock sync.Mutex
	for i := 0; i < 1000; i++ {
		wait.Add(1)
		go func() {
			defer wait.Done()
			lock.Lock()
			sum += 2 * n
			lock.Unlock()
		}()
	}
	wait.Wait()
	fmt.Println(sum / 1000)
}
