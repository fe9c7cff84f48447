package browser

import "testing"

// TestConsole runs the console against one cluster.
func TestConsole(t *testing.T) {
	w := newWorld(t)
	t.Run("a change in the cluster appears, and nothing that somebody does is lost", w.live)
	t.Run("filters are in addresses, and commands are copied", w.filters)
	t.Run("the keyboard reaches everything", w.keyboard)
	t.Run("people see what they may, and what is missing", w.rights)
	t.Run("pages of others cannot read the console", w.others)
	t.Run("a login works once", w.logins)
	t.Run("the console opens a browser", w.opener)
	t.Run("a rollout of the server", w.rollout)
	t.Run("a token that expires", w.expiry)
	t.Run("a console that is stopped for a while", w.stopped)
	t.Run("a console that is stopped while its page is hidden", w.hidden)
	t.Run("a console that ends", w.gone)
	w.behindService(t)
	t.Run("two contexts side by side", w.contexts)
	t.Run("a credential plugin that asks", w.plugin)
	t.Run("Firefox shows the pages", w.inFirefox)
	t.Run("each page in light and dark, wide and narrow", w.pages)
	t.Run("a ratio that appears is drawn", w.ratio)
}
