package hold

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/workload-resizer/workload-resizer/internal/document"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// The ConfigMap has one key per hold, so that a change costs no more than the holds that it
// changes.

// entry is one hold as text. The cluster is an explicit scope, so that a missing line never
// turns a hold into a hold of the cluster.
type entry struct {
	Kind          Kind               `json:"kind"`
	AllNamespaces bool               `json:"allNamespaces,omitempty"`
	Namespace     string             `json:"namespace,omitempty"`
	Workload      *workload.Workload `json:"workload,omitempty"`
	Pod           string             `json:"pod,omitempty"`
	UID           types.UID          `json:"uid,omitempty"`
	Reason        string             `json:"reason,omitempty"`
	Author        string             `json:"author,omitempty"`
	CredentialID  string             `json:"credentialID,omitempty"`
	RequestID     string             `json:"requestID,omitempty"`
	RequestDigest string             `json:"requestDigest,omitempty"`
	Since         string             `json:"since,omitempty"`
	Expires       string             `json:"expires,omitempty"`
	Reset         string             `json:"reset,omitempty"`
}

// dataKey returns the key of a hold in the ConfigMap. Only one key is possible for each kind
// and scope, so no hold is stored twice. Names of workloads and pods are too long for keys.
func dataKey(h Hold) string {
	kind, s := h.Kind.lower(), h.Scope
	switch s.level() {
	case ofCluster:
		return kind + ".cluster"
	case ofNamespace:
		return kind + ".namespace." + s.Namespace
	case ofWorkload:
		return kind + ".workload." + s.Namespace + "." + digest(s.Workload.Kind, s.Workload.Name)
	}
	return kind + ".pod." + s.Namespace + "." + digest(s.Pod, string(s.UID))
}

// emergencyLine is the first line of the text of an emergency restore. It is a comment, because
// versions that know no emergency restores reject unknown fields: they must read the hold as a
// restore at the usual rate, and a hold that they write again is one.
const emergencyLine = "# emergency: true\n"

// digest returns a short string for names, with 80 bits: enough that nobody finds other
// names with the same digest.
func digest(names ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(names, "\x00")))
	return hex.EncodeToString(sum[:10])
}

// readable is like format, and checks that parseHold reads the same hold from the text: a
// write must never produce content that the next read rejects.
func readable(h Hold) (string, error) {
	text, err := format(h)
	if err != nil {
		return "", err
	}
	again, err := parseHold(dataKey(h), text)
	if err == nil && again != h {
		err = errors.New("the text contains a different hold")
	}
	if err != nil {
		return "", fmt.Errorf("write hold as YAML: the text cannot be read again: %w", err)
	}
	return text, nil
}

// format returns the hold as text for the ConfigMap.
func format(h Hold) (string, error) {
	e := entry{
		Kind: h.Kind, AllNamespaces: h.Scope == Scope{}, Namespace: h.Scope.Namespace, Pod: h.Scope.Pod, UID: h.Scope.UID,
		Reason: h.Reason, Author: h.Author, CredentialID: h.CredentialID, RequestID: h.RequestID, RequestDigest: h.RequestDigest, Since: document.TimeText(h.Since), Expires: document.TimeText(h.Expires),
		Reset: document.TimeText(h.Reset),
	}
	if h.Scope.Workload != (workload.Workload{}) {
		e.Workload = &h.Scope.Workload
	}
	text, err := yaml.Marshal(e)
	if err != nil {
		return "", fmt.Errorf("write hold as YAML: %w", err)
	}
	if h.Emergency {
		return emergencyLine + string(text), nil
	}
	return string(text), nil
}

// parseHold reads the text of a key. The error lists all faults, each with its path.
func parseHold(key, text string) (Hold, error) {
	if kind, _, _ := strings.Cut(key, "."); !slices.ContainsFunc(kinds[:], func(k Kind) bool { return kind == k.lower() }) {
		return Hold{}, fmt.Errorf("%s: not the key of a hold; each hold has its own key, such as pause.cluster or pause.namespace.shop", key)
	}
	var e entry
	if err := document.Decode(text, &e); err != nil {
		return Hold{}, fmt.Errorf("%s: %w", key, err)
	}
	h, wrong := e.hold(strings.HasPrefix(text, emergencyLine))
	if want := dataKey(h); len(wrong) == 0 && key != want {
		wrong = append(wrong, fmt.Errorf("the key of the %s of %s must be %s", h.Kind.lower(), h.Scope, want))
	}
	for i, fault := range wrong {
		wrong[i] = fmt.Errorf("%s: %w", key, fault)
	}
	return h, wrong.Err()
}

func (e entry) hold(emergency bool) (Hold, faults) {
	var errs faults
	h := Hold{Kind: e.Kind, Emergency: emergency, Scope: Scope{Namespace: e.Namespace, Pod: e.Pod, UID: e.UID}, Reason: e.Reason, Author: e.Author, CredentialID: e.CredentialID, RequestID: e.RequestID, RequestDigest: e.RequestDigest}
	if e.Workload != nil {
		h.Scope.Workload = *e.Workload
	}
	for _, t := range []struct {
		name, text string
		into       *time.Time
	}{{"since", e.Since, &h.Since}, {"expires", e.Expires, &h.Expires}, {"reset", e.Reset, &h.Reset}} {
		var err error
		if *t.into, err = document.ParseTime(t.text); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", t.name, err))
		}
	}
	if e.Workload != nil && h.Scope.Workload == (workload.Workload{}) {
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
