// Package weak has tests that overlook what the names of its functions say.
package weak

const most = 1 << 4

func nothing(n int) bool { return n > most }

func theZeroOfACase(n int) string {
	switch {
	case n < 0:
		return "negative"
	}
	return "positive"
}

func everything(n int) int { return n + 1 }

func nothingButWhatDoesNotCompile(name string) string { return name + "!" }

func nothingOfWhatEnds(n int) (sum int) {
	for i := n; i != 0; i-- {
		sum += i
	}
	return sum
}

func whatMakesNoDifference(a, b int) int {
	if a < b {
		return a
	}
	return b
}

func whatIsListedAndNoMore(a, b int) bool { return a == b }
