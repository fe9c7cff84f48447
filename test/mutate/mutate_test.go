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
	t.Run("a list without reasons is rejected", aListWithoutReasonsIsRejected)
	t.Run("an entry excuses one mutant", anEntryExcusesOneMutant)
}

// Mutants that weak tests overlook are reported. Other mutants are not: those that tests detect,
// that do not compile, that never end and are listed, or that are equivalent.
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
		t.Errorf("mutate ended with %v\n%s", err, &errors)
	}
	want, err := os.ReadFile("testdata/weak/want.txt")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Error(diff)
	}
}

func aListWithoutReasonsIsRejected(t *testing.T) {
	for _, tc := range []struct{ name, text string }{
		{"the reason is missing", "a.go f\n- x < 1\n+ x <= 1\n"},
		{"the line is missing", "a.go f\n+ x <= 1\nThe result is the same.\nIt is.\n"},
		{"the mutant is missing", "a.go f\n- x < 1\nThe result is the same.\nIt is.\n\nb.go"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if all, err := parseEquivalent(tc.text); err == nil || !strings.Contains(err.Error(), `"a.go f"`) {
				t.Errorf("got %v, %v", all, err)
			}
		})
	}
}

func anEntryExcusesOneMutant(t *testing.T) {
	c := change{"p/a.go", "f", "x < 1", "x <= 1"}
	one := []equivalent{{c, "It is the same."}}
	for _, tc := range []struct {
		name                      string
		mutants                   []mutant
		listed                    []equivalent
		excused, survivors, stale int
	}{
		{"a listed mutant is excused", []mutant{{c, 1, statusLived}}, one, 1, 0, 0},
		{"a second mutant with the same change is not excused", []mutant{{c, 1, statusLived}, {c, 9, statusLived}}, one, 1, 1, 0},
		{"two entries excuse two mutants", []mutant{{c, 1, statusLived}, {c, 9, statusLived}}, append(one, one...), 2, 0, 0},
		{"an entry for a killed mutant is stale", []mutant{{c, 1, statusKilled}}, one, 0, 0, 1},
		{"an equivalent mutant must not time out", []mutant{{c, 1, statusTimedOut}}, one, 0, 1, 1},
		{"an endless mutant must time out", []mutant{{c, 1, statusLived}}, []equivalent{{c, endless + "It counts down."}}, 0, 1, 1},
		{"a mutant that gremlins did not try survives", []mutant{{c, 1, "NOT COVERED"}}, nil, 0, 1, 0},
		{"entries of other packages are ignored", nil, []equivalent{{change{"p/q/a.go", "f", "", ""}, "It is the same."}}, 0, 0, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := judge("p", tc.mutants, tc.listed)
			if r.excused != tc.excused || len(r.survivors) != tc.survivors || len(r.stale) != tc.stale {
				t.Errorf("got %+v", r)
			}
		})
	}
}
