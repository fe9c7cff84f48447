package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// test is a test or, if name is empty, a whole package, in one run of go test.
type test struct {
	// stage is the target of make that ran it.
	stage, pkg, name string
	// seconds is how long it took, all times that it ran.
	seconds float64
	// failed is how often it failed, and passed whether it passed the last time.
	failed int
	passed bool
}

// flaky reports whether the test failed, and passed when it ran again.
func (t *test) flaky() bool { return t.failed > 0 && t.passed }

// subtest reports whether another test contains the test.
func (t *test) subtest() bool { return strings.Contains(t.name, "/") }

// readTests returns the tests and packages of all runs in a folder, the longest first. A file with
// the events of a run has the name of its stage, a hyphen, and a number.
func readTests(folder string) ([]*test, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return nil, err
	}
	var all []*test
	for _, name := range files {
		stage := strings.TrimSuffix(filepath.Base(name), ".json")
		stage = stage[:max(strings.LastIndex(stage, "-"), 0)]
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		of, err := readRun(file, stage)
		if err := errors.Join(err, file.Close()); err != nil {
			return nil, fmt.Errorf("read the events of %s: %w", stage, err)
		}
		all = append(all, of...)
	}
	slices.SortStableFunc(all, func(a, b *test) int { return cmp.Compare(b.seconds, a.seconds) })
	return all, nil
}

// readRun reads the events of one run. A run that was interrupted may end with a part of an event.
func readRun(events io.Reader, stage string) ([]*test, error) {
	type key struct{ pkg, name string }
	known := map[key]*test{}
	var all []*test
	for decoder := json.NewDecoder(events); ; {
		var event struct {
			Action, Package, Test string
			Elapsed               float64
		}
		switch err := decoder.Decode(&event); {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return all, nil
		case err != nil:
			return nil, err
		case event.Action != "pass" && event.Action != "fail":
			continue
		}
		of := key{event.Package, event.Test}
		if known[of] == nil {
			known[of] = &test{stage: stage, pkg: short(event.Package), name: event.Test}
			all = append(all, known[of])
		}
		t := known[of]
		t.seconds += event.Elapsed
		if t.passed = event.Action == "pass"; !t.passed {
			t.failed++
		}
	}
}

// short returns the folder of a package of the project.
func short(pkg string) string {
	if parts := strings.SplitN(pkg, "/", 4); len(parts) == 4 && strings.Contains(parts[0], ".") {
		return parts[3]
	}
	return path.Base(pkg)
}
