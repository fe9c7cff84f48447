package cmdtest

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// terminal is a pseudoterminal of the kernel. person reads what is written to it.
type terminal struct {
	*os.File
	person *os.File
}

// OpenTerminal returns a terminal that is closed after the test.
func OpenTerminal(t *testing.T) *terminal {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = person.Close() })
	if err := unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = program.Close() })
	// Line ends must arrive as they were written.
	if _, err := term.MakeRaw(int(program.Fd())); err != nil {
		t.Fatal(err)
	}
	return &terminal{program, person}
}

// Typed returns the program's side of the terminal after a user typed text.
func (s *terminal) Typed(t *testing.T, text string) *os.File {
	t.Helper()
	if _, err := s.person.WriteString(text); err != nil {
		t.Fatal(err)
	}
	return s.File
}

// Shown returns what was written so far.
func (s *terminal) Shown(t *testing.T) string {
	t.Helper()
	const end = "\x00"
	if _, err := s.WriteString(end); err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for buffer := make([]byte, 4096); ; {
		n, err := s.person.Read(buffer)
		all.Write(buffer[:n])
		if text, ok := strings.CutSuffix(all.String(), end); ok {
			return text
		}
		if err != nil {
			t.Fatalf("read the terminal: %v after %q", err, all.String())
		}
	}
}
