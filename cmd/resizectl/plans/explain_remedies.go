package plans

import "strings"

// remedies say what the user can do about reasons that otherwise persist. KNOWN_ISSUES.md has the
// remedies of all reasons.
var remedies = map[string]string{
	"ExternallyResized":  "let the pod's controller recreate the pod with its originals, or start the server with --externally-resized=override (resizes from known originals again) or adopt (treats the size that was set as right for this node)",
	"InvalidAnnotation":  "let the pod's controller recreate the pod as its author wrote it, or correct the originals with the identity of the server",
	"UnknownNodeType":    "add the node type to config.yaml, or run \"resizectl ratios set TYPE=CPU/MEMORY --create\"",
	"NodeTypeUnlabelled": "label the node, or start the server with another --node-type-label",
	"NotOwned":           "create the pod by a controller, such as a Deployment, or add the kind of its controller to --owner-kinds",
	"OptedOut":           "remove the annotation workload-resizer.io/skip",
	"Paused":             "end the pause with \"resizectl resume\", for the scope in the step \"Holds\"",
	"RestartRequired":    "set resizePolicy NotRequired for the resource if the container does not need a restart",
	"MemoryLimitKept":    "run Kubernetes 1.34 or later on the API server and the node",
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
