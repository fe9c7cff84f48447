package plans

import "strings"

// remedies say what the user can do about reasons that otherwise persist.
var remedies = map[string]string{
	"ExternallyResized": "let the pod's controller recreate the pod with its originals, or start the server with --externally-resized=override (resizes from known originals again) or adopt (treats the size that was set as right for this node)",
	"InvalidAnnotation": "let the pod's controller recreate the pod as its author wrote it, or correct the originals with the identity of the server",
	"RestartRequired":   "set resizePolicy NotRequired for the resource if the container does not need a restart",
	"MemoryLimitKept":   "run Kubernetes 1.34 or later on the API server and the node",
}

// remediesStep returns the remedies for the plan's reasons; empty if there are none.
func (f *facts) remediesStep() string {
	var told []string
	for _, reason := range f.plan.GetReasons() {
		if remedy, ok := remedies[reason.GetCode()]; ok {
			told = append(told, reason.GetCode()+": "+remedy)
		}
	}
	if len(told) == 0 {
		return ""
	}
	return "Remedies: " + strings.Join(told, "; ") + "."
}
