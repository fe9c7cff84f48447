package evidence

import (
	"slices"
	"unicode/utf8"
)

// MostNameBytes is the length of the longest name of a type, a zone or a CPU model that is kept: that of the labels that such
// names come from.
const MostNameBytes = 63

// fits reports whether a name can be kept: longer ones, and what is not UTF-8, would break the bounds or the stored form.
func fits(name string) bool { return len(name) <= MostNameBytes && utf8.ValidString(name) }

// index returns the number of a name, which it adds to the names; −1 if there are too many, or if it cannot be kept.
func index(names *[]string, name string) int {
	if i := slices.Index(*names, name); i >= 0 {
		return i
	}
	if len(*names) >= mostNames || !fits(name) {
		return -1
	}
	*names = append(*names, name)
	return len(*names) - 1
}

// numberOf returns the number of a name; −1 for the empty name, which means that it is not known.
func numberOf(names *[]string, name string) int {
	if name == "" {
		return -1
	}
	return index(names, name)
}

// kept renumbers names so that only those in use remain. It returns the new numbers; −1 for names that are gone.
func kept(names []string, used []bool) (remaining []string, numbers []int) {
	numbers = make([]int, len(names))
	for i, name := range names {
		numbers[i] = -1
		if used[i] {
			numbers[i] = len(remaining)
			remaining = append(remaining, name)
		}
	}
	return remaining, numbers
}
