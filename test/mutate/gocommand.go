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

// What gremlins makes of the exit code of "go test".
const (
	killed    = 1
	notViable = 2
)

// The environment tells the command that gremlins takes for go where the real one is,
// which tests are left out, and how long they may take at least.
const (
	goVariable      = "MUTATE_GO"
	skipVariable    = "MUTATE_SKIP"
	timeoutVariable = "MUTATE_TIMEOUT"
)

// coefficient is how many times as long as those of the code the tests of a mutant may
// take.
const coefficient = 10

// mostMemory is what a mutant's tests may take: an endless loop that appends is to end
// before the machine's memory does.
const mostMemory = 6 << 30

// goCommand does what gremlins asks of the go command, and returns its exit code:
//
//   - The profile of coverage that it writes has every line, so that every mutant is
//     tried. What no test reaches survives.
//   - What does not compile ends otherwise than what fails.
//   - Nothing is vetted: a mutant is to be found out by tests.
func goCommand(args []string) (int, error) {
	if len(args) == 0 || args[0] != "test" {
		return 0, nil // go mod download, of which nothing is needed.
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
	return test(".", value("-timeout")) // Gremlins is in the package's folder.
}

// realGo is the go command, for what is not to find goCommand in PATH.
func realGo(folder string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Getenv(goVariable), args...)
	cmd.Dir, cmd.Stderr = folder, os.Stderr
	return cmd
}

// cover runs the tests of the code as it is, which have to pass, and says that they
// reach everything. It takes as long as gives the mutants their timeout.
func cover(folder, profile string) (int, error) {
	timeout, err := time.ParseDuration(os.Getenv(timeoutVariable))
	if err != nil {
		return 0, fmt.Errorf("understand %s: %w", timeoutVariable, err)
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

// test compiles the tests of the package in a folder and runs them. They are killed
// with this process.
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
