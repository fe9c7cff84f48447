package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMutate(t *testing.T) {
	t.Run("a survivor is reported", aSurvivorIsReported)
	t.Run("a list that says not why is refused", aListThatSaysNotWhyIsRefused)
	t.Run("an entry stands for one mutant", anEntryStandsForOneMutant)
}

// What weak tests overlook is told, and nothing else is: what they notice, what does not
// compile, what never ends and is listed, and what makes no difference.
func aSurvivorIsReported(t *testing.T) {
	gremlins, err := filepath.Abs("../../bin/gremlins")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(gremlins); err != nil {
		t.Fatalf("run make bin/gremlins: %v", err)
	}
	program := filepath.Join(t.TempDir(), "mutate")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	mutate := exec.Command(program, "--gremlins", gremlins, "--equivalent", "equivalent.txt", "--timeout", "10s", ".")
	mutate.Dir = "testdata/weak"
	var errors strings.Builder
	mutate.Stderr = &errors
	got, err := mutate.Output()
	if err == nil || !strings.Contains(errors.String(), "mutants survive") {
		t.Errorf("it ended with %v\n%s", err, &errors)
	}
	want, err := os.ReadFile("testdata/weak/want.txt")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Error(diff)
	}
}

func aListThatSaysNotWhyIsRefused(t *testing.T) {
	for _, tc := range []struct{ name, text string }{
		{"there is no reason", "a.go f\n- x < 1\n+ x <= 1\n"},
		{"the line is missing", "a.go f\n+ x <= 1\nIt is the same.\nIt is.\n"},
		{"the mutant is missing", "a.go f\n- x < 1\nIt is the same.\nIt is.\n\nb.go"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if all, err := parseEquivalent(tc.text); err == nil || !strings.Contains(err.Error(), `"a.go f"`) {
				t.Errorf("read as %v, %v", all, err)
			}
		})
	}
}

func anEntryStandsForOneMutant(t *testing.T) {
	c := change{"p/a.go", "f", "x < 1", "x <= 1"}
	one := []equivalent{{c, "It is the same."}}
	for _, tc := range []struct {
		name                      string
		mutants                   []mutant
		listed                    []equivalent
		excused, survivors, stale int
	}{
		{"one is excused", []mutant{{c, 1, statusLived}}, one, 1, 0, 0},
		{"the second of its kind is not", []mutant{{c, 1, statusLived}, {c, 9, statusLived}}, one, 1, 1, 0},
		{"both are by two entries", []mutant{{c, 1, statusLived}, {c, 9, statusLived}}, append(one, one...), 2, 0, 0},
		{"one that is killed is listed in vain", []mutant{{c, 1, statusKilled}}, one, 0, 0, 1},
		{"what makes no difference does not take forever", []mutant{{c, 1, statusTimedOut}}, one, 0, 1, 1},
		{"what takes forever is not what makes no difference", []mutant{{c, 1, statusLived}}, []equivalent{{c, endless + "It counts down."}}, 0, 1, 1},
		{"what gremlins did not try survives", []mutant{{c, 1, "NOT COVERED"}}, nil, 0, 1, 0},
		{"another package's entries are not looked at", nil, []equivalent{{change{"p/q/a.go", "f", "", ""}, "It is the same."}}, 0, 0, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := judge("p", tc.mutants, tc.listed)
			if r.excused != tc.excused || len(r.survivors) != tc.survivors || len(r.stale) != tc.stale {
				t.Errorf("got %+v", r)
			}
		})
	}
}
