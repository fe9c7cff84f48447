package connect

import "strings"

// Commands adds the flags that select the cluster to each command of kubectl, and those that select the server and
// the user to each one of resizectl. Without them, the user would change another cluster. calledAs is what
// users write for resizectl.
func (c *Connection) Commands(text, calledAs string) string {
	return strings.NewReplacer(
		"kubectl ", "kubectl"+c.given(kubectlFlags)+" ",
		"resizectl ", calledAs+c.given(clusterFlags)+c.given(serverFlags)+" ",
	).Replace(text)
}

// given returns the flags that are set, as users write them after the name of a program.
func (c *Connection) given(names []string) (text string) {
	for _, name := range names {
		if flag := c.flags.Lookup(name); flag.Changed {
			text += " --" + name + "='" + strings.ReplaceAll(flag.Value.String(), "'", `'\''`) + "'"
		}
	}
	return text
}
