package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

const (
	// A target, package or test that took at least this many seconds has a line of its own.
	longTarget, longPackage, longTest = 1, 1, 5
	// mostTests is how many tests have a line at most.
	mostTests = 40
)

// report prints what is known of the runs in a folder.
func report(w io.Writer, folder string) error {
	targets, err := readTargets(folder)
	if err != nil {
		return err
	}
	tests, err := readTests(folder)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	printTargets(table, targets)
	printPackages(table, tests)
	printTests(table, tests)
	if err := table.Flush(); err != nil {
		return err
	}
	printFailures(w, tests)
	return nil
}

func printTargets(table io.Writer, all []target) {
	fmt.Fprint(table, "\nseconds\tCPU\t  target of make (CPU without that of clusters)\n")
	few := target{name: "all that took less than a second"}
	for _, t := range all {
		if t.wall < longTarget {
			few.wall, few.cpu = few.wall+t.wall, few.cpu+t.cpu
			continue
		}
		fmt.Fprintf(table, "%.0f\t%.0f\t  %s\n", t.wall, t.cpu, t.name)
	}
	fmt.Fprintf(table, "%.0f\t%.0f\t  %s\n", few.wall, few.cpu, few.name)
}

func printPackages(table io.Writer, all []*test) {
	fmt.Fprint(table, "\nseconds\tstage\t  package\n")
	few, seconds := 0, 0.0
	for _, t := range all {
		switch {
		case t.name != "":
		case t.seconds < longPackage:
			few, seconds = few+1, seconds+t.seconds
		default:
			fmt.Fprintf(table, "%.0f\t%s\t  %s\n", t.seconds, t.stage, t.pkg)
		}
	}
	fmt.Fprintf(table, "%.0f\tall\t  %d that took less than a second, or whose result was cached\n", seconds, few)
}

func printTests(table io.Writer, all []*test) {
	fmt.Fprint(table, "\nseconds\tstage\t  slow test\n")
	printed := 0
	for _, t := range all {
		if t.name != "" && t.seconds >= longTest && printed < mostTests {
			printed++
			fmt.Fprintf(table, "%.0f\t%s\t  %s.%s\n", t.seconds, t.stage, t.pkg, t.name)
		}
	}
}

// printFailures names tests that failed. A subtest runs again only with the whole test, so the advice names
// only whole tests.
func printFailures(w io.Writer, all []*test) {
	for _, t := range all {
		switch {
		case t.name == "":
			// A package that did not build, or took too long, has no failed test.
			if !t.passed && !slices.ContainsFunc(all, func(o *test) bool { return o.name != "" && !o.passed && o.stage == t.stage && o.pkg == t.pkg }) {
				fmt.Fprintf(w, "\nFAILED in %s: %s, as a whole", t.stage, t.pkg)
			}
		case t.flaky():
			fmt.Fprintf(w, "\nFLAKY in %s: %s.%s failed, and passed when it ran again.", t.stage, t.pkg, t.name)
			if !t.subtest() {
				fmt.Fprintf(w, " Find out why: make test-flaky FLAKY=%s.%s", t.pkg, t.name)
			}
		case !t.passed:
			fmt.Fprintf(w, "\nFAILED in %s: %s.%s", t.stage, t.pkg, t.name)
		}
	}
	fmt.Fprintln(w)
}
