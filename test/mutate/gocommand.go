package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// The exit codes of "go test" as gremlins interprets them.
const (
	killed    = 1
	notViable = 2
)

// Environment variables for the command that gremlins runs as go: the path of the real go
// command, which tests to skip, and the minimum timeout of tests.
const (
	goVariable      = "MUTATE_GO"
	skipVariable    = "MUTATE_SKIP"
	timeoutVariable = "MUTATE_TIMEOUT"
)

// coefficient is how many times as long the tests of a mutant may take as the tests of the
// original code.
const coefficient = 10

// mostMemory is how much memory the tests of a mutant may use: an endless loop that appends must
// end before the machine runs out of memory.
const mostMemory = 6 << 30

// goCommand does what gremlins expects of the go command, and returns its exit code:
//
//   - It writes a coverage profile with every line, so that gremlins tries every mutant.
//     Mutants in code that no test reaches survive.
//   - A mutant that does not compile has a different exit code than failing tests.
//   - It does not run vet: tests must detect mutants.
func goCommand(args []string) (int, error) {
	if len(args) == 0 || args[0] != "test" {
		return 0, nil // go mod download, which is not needed.
	}
	value := func(flag string) string {
		if i := slices.Index(args, flag); i >= 0 && i+1 < len(args) {
			return args[i+1]
		}
		return ""
	}
	if profile := value("-coverprofile"); profile != "" {
		return cover(strings.TrimSuffix(args[len(args)-1], "/..."), profile)
	}
	return test(".", value("-timeout")) // Gremlins runs it in the package's folder.
}

// realGo returns a command that runs the real go command, and not goCommand, which is in PATH.
func realGo(folder string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Getenv(goVariable), args...)
	cmd.Dir, cmd.Stderr = folder, os.Stderr
	return cmd
}

// cover runs the tests of the original code, which must pass, and writes a profile with full
// coverage. It takes at least as long as necessary for the minimum timeout of mutants, which
// gremlins derives from it.
func cover(folder, profile string) (int, error) {
	timeout, err := time.ParseDuration(os.Getenv(timeoutVariable))
	if err != nil {
		return 0, fmt.Errorf("parse %s: %w", timeoutVariable, err)
	}
	least := time.After(timeout / coefficient)
	defer func() { <-least }()
	if code, err := test(folder, "20m"); code != 0 || err != nil {
		return code, err
	}
	const line = `{{$p := .ImportPath}}{{range .GoFiles}}{{$p}}/{{.}}:1.1,1000000.1 1 1{{"\n"}}{{end}}`
	blocks, err := realGo(folder, "list", "-f", line).Output()
	if err != nil {
		return 0, fmt.Errorf("list the files of %s: %w", folder, err)
	}
	return 0, os.WriteFile(profile, append([]byte("mode: set\n"), blocks...), 0o600)
}

// test compiles and runs the tests of the package in a folder. The tests are killed with this
// process.
func test(folder, timeout string) (int, error) {
	scratch, err := os.MkdirTemp("", "mutate-test-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(scratch)
	binary := filepath.Join(scratch, "tests")
	if err := realGo(folder, "test", "-c", "-vet=off", "-ldflags=-s -w", "-o", binary).Run(); err != nil {
		return notViable, nil
	}
	limit := syscall.Rlimit{Cur: mostMemory, Max: mostMemory}
	if err := syscall.Setrlimit(syscall.RLIMIT_AS, &limit); err != nil {
		return 0, fmt.Errorf("limit memory: %w", err)
	}
	tests := exec.Command(binary, "-test.failfast", "-test.timeout="+timeout, "-test.skip="+os.Getenv(skipVariable))
	tests.Dir = folder
	tests.Stdout, tests.Stderr = os.Stdout, os.Stderr
	runtime.LockOSThread() // The child dies with the thread that started it.
	tests.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var failed *exec.ExitError
	switch err := tests.Run(); {
	case errors.As(err, &failed):
		return killed, nil
	case err != nil:
		return 0, fmt.Errorf("run the tests of %s: %w", folder, err)
	}
	return 0, nil
}
