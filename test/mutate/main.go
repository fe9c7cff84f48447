package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	if filepath.Base(os.Args[0]) == "go" {
		code, err := goCommand(os.Args[1:])
		if err != nil {
			fmt.Fprintln(os.Stderr, "error:", err)
			code = notViable
		}
		os.Exit(code)
	}
	var o options
	flag.StringVar(&o.gremlins, "gremlins", "bin/gremlins", "program that creates the mutants")
	flag.StringVar(&o.list, "equivalent", "test/mutate/equivalent.txt", "list of mutants that no test can distinguish from the code")
	flag.StringVar(&o.skip, "skip", "", "tests to skip, a regular expression as for go test -skip")
	flag.DurationVar(&o.timeout, "timeout", time.Minute, "minimum timeout of the tests of a mutant; the timeout is ten times as long as the tests of the code take, if that is longer")
	flag.IntVar(&o.workers, "workers", 2, "number of mutants to try at the same time")
	flag.Parse()
	if err := mutate(o, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

type options struct {
	gremlins, list, skip string
	timeout              time.Duration
	workers              int
}

// mutate tries the mutants of packages. Their folders are relative to the module's root, which
// must be the working directory.
func mutate(o options, packages []string) error {
	listed, err := readEquivalent(o.list)
	if err != nil {
		return err
	}
	l, err := newLaboratory(o)
	if err != nil {
		return err
	}
	defer l.remove()
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-interrupted
		l.remove()
		os.Exit(1)
	}()

	failed := false
	fmt.Printf("%-26s %7s %7s %7s %10s %9s\n", "PACKAGE", "MUTANTS", "KILLED", "ENDLESS", "EQUIVALENT", "SURVIVORS")
	for _, folder := range packages {
		mutants, err := l.try(folder)
		if err != nil {
			return fmt.Errorf("try the mutants of %s: %w", folder, err)
		}
		r := judge(folder, mutants, listed)
		r.print(os.Stdout)
		failed = failed || !r.good()
	}
	if failed {
		return errors.New("mutants survive: write a test that detects them, delete the code, or explain in " + o.list + " why no test can detect them")
	}
	return nil
}

// laboratory is a copy of the module in which mutants are tried.
type laboratory struct {
	options
	folder, goPath string
}

func newLaboratory(o options) (*laboratory, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if o.gremlins, err = filepath.Abs(o.gremlins); err != nil {
		return nil, err
	}
	goPath, err := exec.LookPath("go")
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "mutate-")
	if err != nil {
		return nil, err
	}
	l := &laboratory{o, folder, goPath}
	for _, name := range []string{"bin", "tmp", "module"} {
		if err = os.Mkdir(filepath.Join(folder, name), 0o700); err != nil {
			break
		}
	}
	if err == nil {
		err = os.Symlink(self, filepath.Join(folder, "bin/go"))
	}
	if err == nil {
		// Without build results and history: gremlins copies the module again for each worker.
		err = run("bash", "-o", "pipefail", "-c", `git ls-files -z --cached --others --exclude-standard | xargs -0 ls -d 2>/dev/null | tar -cT - | tar -xC "$0"`, filepath.Join(folder, "module"))
	}
	if err != nil {
		l.remove()
		return nil, fmt.Errorf("copy the module: %w", err)
	}
	return l, nil
}

func (l *laboratory) remove() { os.RemoveAll(l.folder) }

func run(name string, args ...string) error {
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	return nil
}

// try runs gremlins on all mutants of a package, and returns the results.
func (l *laboratory) try(folder string) ([]mutant, error) {
	output := filepath.Join(l.folder, "gremlins.json")
	cmd := exec.Command(l.gremlins, "unleash", "./"+folder, "--exclude-files=/", "--output="+output,
		"--workers="+strconv.Itoa(l.workers), "--timeout-coefficient="+strconv.Itoa(coefficient),
		"--invert-assignments", "--invert-bitwise", "--invert-bwassign", "--invert-logical", "--invert-loopctrl", "--remove-self-assignments",
		"--invert-negatives=false") // --arithmetic-base includes these.
	cmd.Dir = filepath.Join(l.folder, "module")
	cmd.Env = append(os.Environ(),
		"PATH="+filepath.Join(l.folder, "bin")+":"+os.Getenv("PATH"), "TMPDIR="+filepath.Join(l.folder, "tmp"),
		goVariable+"="+l.goPath, skipVariable+"="+l.skip, timeoutVariable+"="+l.timeout.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("gremlins: %w\n%s", err, strings.TrimSpace(string(out)))
	}
	return readMutants(output, cmd.Dir, folder)
}
