package connect

import "strings"

// Commands adds the flags that select the cluster to each command of kubectl and resizectl. Without
// them, the user would change the cluster of the current context. calledAs is what users write for resizectl.
func (c *Connection) Commands(text, calledAs string) string {
	flags := c.kube.flags()
	text = strings.ReplaceAll(text, "kubectl ", "kubectl"+flags+" ")
	return strings.ReplaceAll(text, "resizectl ", calledAs+flags+" ")
}
