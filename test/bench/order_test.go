package main

import "testing"

// TestOrderIsBalanced checks that no variant has an advantage by its place, nor by the
// variant before it.
func TestOrderIsBalanced(t *testing.T) {
	places, followers := map[[2]int]int{}, map[[2]int]int{}
	for _, round := range order {
		for place, variant := range round {
			places[[2]int{place, variant}]++
			if place > 0 {
				followers[[2]int{round[place-1], variant}]++
			}
		}
	}
	for a := range order {
		for b := range order {
			if places[[2]int{a, b}] != 1 {
				t.Errorf("variant %d has place %d %d times", b, a, places[[2]int{a, b}])
			}
			if a != b && followers[[2]int{a, b}] != 1 {
				t.Errorf("variant %d follows %d %d times", b, a, followers[[2]int{a, b}])
			}
		}
	}
}
