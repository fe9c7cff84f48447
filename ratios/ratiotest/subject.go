package ratiotest

// Subject is a test pod.
type Subject struct {
	Labels, Annotations map[string]string
	Class, In           string
}

// Namespace implements policy.Subject.
func (s Subject) Namespace() string { return s.In }

// Label implements policy.Subject.
func (s Subject) Label(key string) (value string, ok bool) {
	value, ok = s.Labels[key]
	return value, ok
}

// Annotation implements policy.Subject.
func (s Subject) Annotation(key string) (value string, ok bool) {
	value, ok = s.Annotations[key]
	return value, ok
}

// ComputeClass implements policy.Subject.
func (s Subject) ComputeClass() string { return s.Class }
