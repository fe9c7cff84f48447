package suite

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Suite is a benchmark, or a program that runs several tests. It counts once, regardless of how
// many tests and variants it has: these share its compiler, its data and its habits, so that
// more of them do not make a ratio more certain.
type Suite struct {
	// Name is the name of the benchmark in samples. It may end in *.
	Name string
	// Weight is the default weight of the suite. Suites with weight 0 are not read from
	// feeds.
	Weight float64
	// Why is the reason for the weight, for users.
	Why string
	// Tests are the tests whose geometric mean is the score of the suite. All of them are
	// needed: without one of them, the mean would be of something else. A name may contain *
	// if the weight is 0.
	Tests []Test
	// Parts is the number of parts of a version that must be equal for scores to be
	// comparable: with 1, 6.3.0 and 6.4.0 are. 0 means that all must be.
	Parts int
}

// Test identifies a test by its publisher's name and the variant that represents it.
type Test struct {
	Name string
	// Variant has the values of the settings that distinguish runs; others may have any
	// value.
	Variant map[string]string
}

// Comparable returns the part of a version that must be equal for scores to be comparable.
func (s *Suite) Comparable(version string) string {
	if s.Parts == 0 {
		return version
	}
	number := strings.Split(numbers.FindString(version), ".")
	return strings.Join(number[:min(len(number), s.Parts)], ".")
}

// numbers matches the number in a version such as "Redis server v=7.4.0 sha=00000000:0".
var numbers = regexp.MustCompile(`\d+(\.\d+)*`)

// Find returns the suite and the index of the test with this name whose variant has these
// settings; nil if the table does not have it.
func Find(name string, setting func(string) string) (*Suite, int) {
	for _, i := range byTest(name) {
		for t, test := range Suites[i].Tests {
			if test.matches(name, setting) {
				return &Suites[i], t
			}
		}
	}
	return nil, 0
}

func (t *Test) matches(name string, setting func(string) string) bool {
	if matched, _ := path.Match(t.Name, name); !matched { // The patterns are valid.
		return false
	}
	for key, value := range t.Variant {
		if setting(key) != value {
			return false
		}
	}
	return true
}

// byTest returns the indexes of the suites that may have a test with this name.
func byTest(name string) []int {
	prefix, _, _ := strings.Cut(name, ":")
	return byPrefix[prefix]
}

// byPrefix has the indexes of suites by the part of the names of their tests before the colon.
var byPrefix = func() map[string][]int {
	index := map[string][]int{}
	for i, s := range Suites {
		for _, test := range s.Tests {
			prefix, _, _ := strings.Cut(test.Name, ":")
			if !slices.Contains(index[prefix], i) {
				index[prefix] = append(index[prefix], i)
			}
		}
	}
	return index
}()

// Listed reports whether the table has a suite with this name.
func Listed(name string) bool {
	return slices.ContainsFunc(Suites, func(s Suite) bool {
		prefix, isPattern := strings.CutSuffix(s.Name, "*")
		return s.Name == name || isPattern && strings.HasPrefix(name, prefix)
	})
}

// Weights returns the default weights of all suites by name. It may be modified.
func Weights() map[string]float64 { return maps.Clone(weights) }

var weights = func() map[string]float64 {
	all := map[string]float64{}
	for _, s := range Suites {
		all[s.Name] = s.Weight
	}
	return all
}()
