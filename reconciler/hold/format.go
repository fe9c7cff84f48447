package hold

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	yamlv3 "go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/types"
	strictjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// Key is the key of the ConfigMap that has the holds.
const Key = "holds.yaml"

// preamble tells people who look into the ConfigMap what they see.
const preamble = `# Pods that workload-resizer restores or leaves as they are. Written by
# "resizectl restore", "pause" and "resume".
`

// document is the text in the ConfigMap.
type document struct {
	Holds []entry `json:"holds"`
}

// entry is one hold. The cluster is named in so many words, so that a line that
// was left out never covers it.
type entry struct {
	Kind          Kind      `json:"kind"`
	AllNamespaces bool      `json:"allNamespaces,omitempty"`
	Namespace     string    `json:"namespace,omitempty"`
	Pod           string    `json:"pod,omitempty"`
	UID           types.UID `json:"uid,omitempty"`
	Reason        string    `json:"reason,omitempty"`
	Author        string    `json:"author,omitempty"`
	Since         string    `json:"since,omitempty"`
	Expires       string    `json:"expires,omitempty"`
}

// readable is format, whose text parse reads as the same holds: nothing is ever
// written that the next read refuses.
func readable(holds []Hold) (string, error) {
	text, err := format(holds)
	if err != nil {
		return "", err
	}
	again, err := parse(map[string]string{Key: string(text)})
	if err == nil && !slices.Equal(again, ordered(holds)) {
		err = errors.New("they are read as others than were written")
	}
	if err != nil {
		return "", fmt.Errorf("write holds as YAML: they could not be read again: %w", err)
	}
	return string(text), nil
}

// format writes the holds as a text for the ConfigMap.
func format(holds []Hold) ([]byte, error) {
	d := document{Holds: []entry{}}
	for _, h := range ordered(holds) {
		d.Holds = append(d.Holds, entry{
			Kind: h.Kind, AllNamespaces: h.Scope == Scope{}, Namespace: h.Scope.Namespace, Pod: h.Scope.Pod, UID: h.Scope.UID,
			Reason: h.Reason, Author: h.Author, Since: timeText(h.Since), Expires: timeText(h.Expires),
		})
	}
	text, err := yaml.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("write holds as YAML: %w", err)
	}
	return append([]byte(preamble), text...), nil
}

// parse reads the data of the ConfigMap. Without the key there are no holds. The
// error lists everything that is wrong, each with its path.
func parse(data map[string]string) ([]Hold, error) {
	var errs faults
	for key := range data {
		if key != Key {
			errs = append(errs, fmt.Errorf("%s: unknown key, holds are in %s", key, Key))
		}
	}
	d, err := decode(data[Key])
	if err != nil {
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
			errs = append(errs, fmt.Errorf("holds[%d]: there is a %s of %s already, holds[%d]", i, strings.ToLower(string(h.Kind)), h.Scope, first))
		}
		holds[i], seen[h.key()] = h, i
	}
	return holds, errs.err()
}

// decode refuses unknown keys, keys that are set twice and second documents.
func decode(text string) (*document, error) {
	var content, second any
	decoder := yamlv3.NewDecoder(bytes.NewReader([]byte(text)))
	if err := decoder.Decode(&content); errors.Is(err, io.EOF) {
		return &document{}, nil
	} else if err != nil {
		return nil, fmt.Errorf("read YAML: %w", err)
	}
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		return nil, errors.New("want one YAML document, there is more after ---")
	}
	asJSON, err := json.Marshal(content)
	if err != nil {
		return nil, fmt.Errorf("read YAML: %w", err)
	}
	d := &document{}
	unknown, err := strictjson.UnmarshalStrict(asJSON, d)
	if err != nil {
		return nil, fmt.Errorf("read YAML: %w", err)
	}
	return d, faults(unknown).err()
}

func (e entry) hold() (Hold, faults) {
	var errs faults
	h := Hold{Kind: e.Kind, Scope: Scope{e.Namespace, e.Pod, e.UID}, Reason: e.Reason, Author: e.Author}
	for _, t := range []struct {
		name, text string
		into       *time.Time
	}{{"since", e.Since, &h.Since}, {"expires", e.Expires, &h.Expires}} {
		if t.text == "" {
			continue
		}
		parsed, err := time.Parse(time.RFC3339, t.text)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: want a time such as %q, got %q", t.name, "2026-11-21T01:02:03Z", t.text))
			continue
		}
		*t.into = parsed.UTC().Truncate(time.Second)
	}
	if named := h.Scope != (Scope{}); named == e.AllNamespaces {
		errs = append(errs, errors.New("namespace: want either a namespace or allNamespaces: true"))
	}
	for _, fault := range h.Faults() {
		errs = append(errs, fault)
	}
	return h, errs
}

func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339)
}
