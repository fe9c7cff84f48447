package console

import "testing"

// TestOpener checks that Ctrl-C, which the terminal sends to the programs of its session, does not reach the browser.
func TestOpener(t *testing.T) {
	defer func(before []string) { openers["linux"] = before }(openers["linux"])
	openers["linux"] = []string{"sh", "-c", `[ "$(cut -d ' ' -f 6 /proc/$$/stat)" = $$ ]`}
	if err := open("login.html"); err != nil {
		t.Errorf("the browser has no session of its own: %v", err)
	}
}
