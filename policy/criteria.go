package policy

// Criteria select pods. A pod must meet all of them; an empty criterion is always met.
type Criteria struct {
	// Namespace is the namespace of the pod.
	Namespace string
	// ComputeClass is the class that the pod requests.
	ComputeClass string
	// Labels that the pod must have, with their values.
	Labels map[string]string
	// Annotations that the pod must have, with their values.
	Annotations map[string]string
}

// Subject is the part of a pod that rules match on.
type Subject interface {
	// Namespace returns the namespace of the pod.
	Namespace() string
	// Label returns the value of a label, and whether the pod has it.
	Label(key string) (value string, ok bool)
	// Annotation returns the value of an annotation, and whether the pod has it.
	Annotation(key string) (value string, ok bool)
	// ComputeClass returns the value of cloud.google.com/compute-class in the
	// pod's node selector; empty if there is none.
	ComputeClass() string
}
