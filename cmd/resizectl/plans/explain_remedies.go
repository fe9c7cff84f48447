package plans

import "strings"

// remedies say what can be done about what stays until somebody does something.
var remedies = map[string]string{
	"ExternallyResized": "have the pod's controller make the pod anew, which then asks for the originals, or start the server with --externally-resized=override, which gives known originals their size again, or with adopt, which takes what was set for right on this node",
	"InvalidAnnotation": "have the pod's controller make the pod anew, which then asks for what its author wrote, or write the right originals as the server",
	"RestartRequired":   "say resizePolicy NotRequired for the resource where the container can do without a restart",
	"MemoryLimitKept":   "have the API server and the node run Kubernetes 1.34 or later",
}

// remediesStep says what can be done about the reasons; empty if there is nothing.
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
