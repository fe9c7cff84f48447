package gate

import (
	"fmt"
	"html"
	"os"
	"path/filepath"
	"runtime"
)

// folders are where a file for a browser may be, the best first. On Linux, browsers that are confined, as by snap, have a /tmp of their own,
// and do not see what is hidden in the home of the user.
func folders() []string {
	home, err := os.UserHomeDir()
	if runtime.GOOS != "linux" || err != nil {
		return []string{os.TempDir()}
	}
	return []string{home, os.TempDir()}
}

// WriteLogin writes a file that leads a browser to a login, and returns its path. Only its owner can read it: other users can see with
// which arguments a browser is started, so that these must not have the login. Remove its folder when the browser has had time to
// open it.
func WriteLogin(login string) (path string, err error) {
	var folder string
	for _, in := range folders() {
		if folder, err = os.MkdirTemp(in, "workload-resizer-console-"); err == nil { // Only its owner may enter.
			break
		}
	}
	if err != nil {
		return "", fmt.Errorf("write the login: %w", err)
	}
	path = filepath.Join(folder, "login.html")
	if err := os.WriteFile(path, []byte(onward(login)), 0o600); err != nil {
		_ = os.RemoveAll(folder)
		return "", fmt.Errorf("write the login: %w", err)
	}
	return path, nil
}

// onward returns a page that leads to another address.
func onward(to string) string {
	return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="referrer" content="no-referrer">` +
		`<link rel="icon" href="data:,"><meta http-equiv="refresh" content="0;url=` + html.EscapeString(to) + `"><title>workload-resizer</title>` +
		`<p><a href="` + html.EscapeString(to) + `">Continue</a></p></html>` + "\n"
}
