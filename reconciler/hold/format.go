package hold

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/workload-resizer/workload-resizer/internal/document"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
)

// Key is the key of the ConfigMap that holds the holds.
const Key = "holds.yaml"

// preamble explains the content to users who read the ConfigMap.
const preamble = `# Pods that workload-resizer restores or does not resize. Written by
# "resizectl restore", "pause" and "resume".
`

// list is the document in the ConfigMap.
type list struct {
	Holds []entry `json:"holds"`
}

// entry is one hold. The cluster is an explicit scope, so that a missing line never turns a
// hold into a hold of the cluster.
type entry struct {
	Kind          Kind      `json:"kind"`
	AllNamespaces bool      `json:"allNamespaces,omitempty"`
	Namespace     string    `json:"namespace,omitempty"`
	Workload      *workload `json:"workload,omitempty"`
	Pod           string    `json:"pod,omitempty"`
	UID           types.UID `json:"uid,omitempty"`
	Reason        string    `json:"reason,omitempty"`
	Author        string    `json:"author,omitempty"`
	Since         string    `json:"since,omitempty"`
	Expires       string    `json:"expires,omitempty"`
}

// workload is a controller of pods, or its owner.
type workload struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
}

// readable is like format, and checks that parse reads the same holds from the text: a
// write must never produce content that the next read rejects.
func readable(holds []Hold) (string, error) {
	text, err := format(holds)
	if err != nil {
		return "", err
	}
	again, err := parse(map[string]string{Key: string(text)})
	if err == nil && !slices.Equal(again, ordered(holds)) {
		err = errors.New("the text contains different holds")
	}
	if err != nil {
		return "", fmt.Errorf("write holds as YAML: the text cannot be read again: %w", err)
	}
	return string(text), nil
}

// format returns the holds as text for the ConfigMap.
func format(holds []Hold) ([]byte, error) {
	d := list{Holds: []entry{}}
	for _, h := range ordered(holds) {
		e := entry{
			Kind: h.Kind, AllNamespaces: h.Scope == Scope{}, Namespace: h.Scope.Namespace, Pod: h.Scope.Pod, UID: h.Scope.UID,
			Reason: h.Reason, Author: h.Author, Since: document.TimeText(h.Since), Expires: document.TimeText(h.Expires),
		}
		if h.Scope.Workload != (safety.Workload{}) {
			e.Workload = &workload{h.Scope.Workload.Kind, h.Scope.Workload.Name}
		}
		d.Holds = append(d.Holds, e)
	}
	text, err := yaml.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("write holds as YAML: %w", err)
	}
	return append([]byte(preamble), text...), nil
}

// parse reads the data of the ConfigMap. Without the key there are no holds. The error
// lists all faults, each with its path.
func parse(data map[string]string) ([]Hold, error) {
	var errs faults
	for key := range data {
		if key != Key {
			errs = append(errs, fmt.Errorf("%s: unknown key, holds are in %s", key, Key))
		}
	}
	var d list
	if err := document.Decode(data[Key], &d); err != nil {
		return nil, append(errs, err)
	}
	holds := make([]Hold, len(d.Holds))
	seen := map[key]int{}
	for i, e := range d.Holds {
		h, wrong := e.hold()
		for _, fault := range wrong {
			errs = append(errs, fmt.Errorf("holds[%d].%w", i, fault))
		}
		if first, twice := seen[h.key()]; twice && len(wrong) == 0 {
			errs = append(errs, fmt.Errorf("holds[%d]: duplicates the %s of %s in holds[%d]", i, strings.ToLower(string(h.Kind)), h.Scope, first))
		}
		holds[i], seen[h.key()] = h, i
	}
	return holds, errs.Err()
}

func (e entry) hold() (Hold, faults) {
	var errs faults
	h := Hold{Kind: e.Kind, Scope: Scope{Namespace: e.Namespace, Pod: e.Pod, UID: e.UID}, Reason: e.Reason, Author: e.Author}
	if e.Workload != nil {
		h.Scope.Workload = safety.Workload{Kind: e.Workload.Kind, Name: e.Workload.Name}
	}
	for _, t := range []struct {
		name, text string
		into       *time.Time
	}{{"since", e.Since, &h.Since}, {"expires", e.Expires, &h.Expires}} {
		var err error
		if *t.into, err = document.ParseTime(t.text); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", t.name, err))
		}
	}
	if e.Workload != nil && h.Scope.Workload == (safety.Workload{}) {
		// An ignored workload would turn it into a hold of the whole namespace.
		errs = append(errs, errors.New("workload: must have a kind and a name"))
	}
	if named := h.Scope != (Scope{}); named == e.AllNamespaces {
		errs = append(errs, errors.New("namespace: must set either a namespace or allNamespaces: true"))
	}
	for _, fault := range h.Faults() {
		errs = append(errs, fault)
	}
	return h, errs
}
