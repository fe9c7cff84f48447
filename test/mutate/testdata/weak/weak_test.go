package weak

import "testing"

func TestSome(t *testing.T) {
	if nothing(16) || !nothing(17) {
		t.Error("nothing")
	}
	if theZeroOfACase(-5) != "negative" || theZeroOfACase(5) != "positive" {
		t.Error("theZeroOfACase")
	}
	if nothingButWhatDoesNotCompile("a") != "a!" {
		t.Error("nothingButWhatDoesNotCompile")
	}
	if nothingOfWhatEnds(3) != 6 {
		t.Error("nothingOfWhatEnds")
	}
	if whatMakesNoDifference(1, 2) != 1 || whatMakesNoDifference(2, 1) != 1 {
		t.Error("whatMakesNoDifference")
	}
	if whatIsListedAndNoMore(1, 2) {
		t.Error("whatIsListedAndNoMore")
	}
}
