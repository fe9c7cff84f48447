package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/workload-resizer/workload-resizer/test/export/check"
)

func main() {
	program := flag.String("resizectl", "bin/resizectl", "program to test")
	verbose := flag.Bool("v", false, "print what export lists")
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "name directories: make test-export DIRS='DIR DIR'")
		os.Exit(2)
	}
	failed := false
	for _, dir := range flag.Args() {
		if err := try(*program, dir, *verbose); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", dir, err)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}

// try runs the program on a copy of a directory, and checks the result.
func try(program, dir string, verbose bool) error {
	temp, err := os.MkdirTemp("", "test-export-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(temp) }()
	tree := filepath.Join(temp, "tree")
	if err := os.CopyFS(tree, os.DirFS(dir)); err != nil {
		return fmt.Errorf("copy: %w", err)
	}
	found, files, err := containers(tree)
	if err != nil {
		return err
	}
	values, err := mappings(tree)
	if err != nil {
		return err
	}
	mapped, err := writeMappings(tree, values)
	if err != nil {
		return err
	}
	usage := filepath.Join(temp, "usage.json")
	text, err := json.Marshal(map[string]any{"recommendations": recommend(append(found, mapped...))})
	if err != nil {
		return err
	}
	if err := os.WriteFile(usage, text, 0o600); err != nil {
		return err
	}
	before, err := snapshot(tree)
	if err != nil {
		return err
	}
	listed, took, err := run(program, "export", "-f", tree, "--from", usage, "--write")
	if err != nil {
		return err
	}
	after, err := snapshot(tree)
	if err != nil {
		return err
	}
	if verbose {
		fmt.Print(strings.ReplaceAll(listed, tree+"/", ""))
	}
	var faults []error
	edited := 0
	for name, text := range before {
		if bytes.Equal(text, after[name]) {
			continue
		}
		edited++
		if err := check.Changes(text, after[name]); err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", name, err))
		}
	}
	if len(after) != len(before) {
		faults = append(faults, fmt.Errorf("there are %d files instead of %d", len(after), len(before)))
	}
	if _, _, err := run(program, "export", "-f", tree, "--from", usage); err != nil {
		faults = append(faults, fmt.Errorf("the second export is not the same: %w", err))
	}
	fmt.Printf("%s: %d files, %d containers, %d resources in values, %d files edited, %d lines listed, %d failed, %s\n", dir, files, len(found), len(values), edited, strings.Count(listed, "not edited: "), len(faults), took.Round(time.Millisecond))
	return errors.Join(faults...)
}

// run runs the program, and returns what it prints on standard error, and how long processors worked for it.
func run(program string, args ...string) (string, time.Duration, error) {
	cmd := exec.Command(program, args...)
	var listed bytes.Buffer
	cmd.Stderr = &listed
	if err := cmd.Run(); err != nil {
		return "", 0, fmt.Errorf("%s %s: %w: %s", program, strings.Join(args, " "), err, listed.String())
	}
	return listed.String(), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}

// snapshot returns the texts of all files.
func snapshot(dir string) (map[string][]byte, error) {
	files := map[string][]byte{}
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(name)
		files[name] = text
		return err
	})
	return files, err
}
