package console

import (
	"os/exec"
	"runtime"
	"time"
)

// openers are the programs that open a file with the program of the user, by operating system. Others have that of Linux.
var openers = map[string][]string{
	"darwin":  {"open"},
	"linux":   {"xdg-open"},
	"windows": {"rundll32", "url.dll,FileProtocolHandler"},
}

// opens is how long such a program may take to fail.
const opens = 3 * time.Second

// open opens a file in the browser of the user. Tests replace it.
var open = func(path string) error {
	opener, known := openers[runtime.GOOS]
	if !known {
		opener = openers["linux"]
	}
	cmd := exec.Command(opener[0], append(opener[1:], path)...)
	cmd.SysProcAttr = ownSession // Ctrl-C ends the console, but not the browser.
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		return err
	case <-time.After(opens): // Some wait for the browser to end.
		return nil
	}
}
