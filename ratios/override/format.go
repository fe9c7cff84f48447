package override

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/workload-resizer/workload-resizer/internal/document"
)

// Keys of the ConfigMap.
const (
	// Key holds the overrides.
	Key = "overrides.yaml"
	// HistoryKey holds the changes that led to them.
	HistoryKey = "history.yaml"
)

// Preambles explain the content to users who read the ConfigMap.
const (
	preamble = `# Ratios that take precedence over the configuration. Written by
# "resizectl ratios set", "delete" and "rollback".
`
	historyPreamble = `# Who changed the overrides, and why. Written by workload-resizer.
`
)

// list is the text of Key.
type list struct {
	Overrides map[string]entry `json:"overrides"`
}

type entry struct {
	CPUPerf    float64 `json:"cpuPerf"`
	MemoryPerf float64 `json:"memPerf"`
	Author     string  `json:"author,omitempty"`
	Credential string  `json:"credentialID,omitempty"`
	Reason     string  `json:"reason,omitempty"`
	UpdateTime string  `json:"updateTime,omitempty"`
	ExpireTime string  `json:"expireTime,omitempty"`
	// Fallback is the permanent override that takes effect after ExpireTime.
	Fallback *entry `json:"fallback,omitempty"`
}

// history is the text of HistoryKey.
type history struct {
	Changes []changeEntry `json:"changes"`
}

type changeEntry struct {
	Number     int64  `json:"number"`
	Time       string `json:"time"`
	Author     string `json:"author,omitempty"`
	Credential string `json:"credentialID,omitempty"`
	Reason     string `json:"reason,omitempty"`
	RollbackTo *int64 `json:"rollbackTo,omitempty"`
	Expiry     bool   `json:"expiry,omitempty"`
	RequestID  string `json:"requestID,omitempty"`
	// RequestDigest tells a request that is sent again from another one with the same ID.
	RequestDigest string       `json:"requestDigest,omitempty"`
	Deltas        []deltaEntry `json:"deltas"`
}

type deltaEntry struct {
	NodeType string      `json:"nodeType"`
	From     *valueEntry `json:"from,omitempty"`
	To       *valueEntry `json:"to,omitempty"`
}

type valueEntry struct {
	CPUPerf    float64     `json:"cpuPerf"`
	MemoryPerf float64     `json:"memPerf"`
	ExpireTime string      `json:"expireTime,omitempty"`
	Fallback   *valueEntry `json:"fallback,omitempty"`
}

// readable formats the content and checks that parse reads it back unchanged, so that the store
// never writes data that the next read rejects.
func readable(c content) (map[string]string, error) {
	text, kept, err := format(c)
	if err != nil {
		return nil, fmt.Errorf("write overrides as YAML: %w", err)
	}
	again, err := parse(text)
	if err == nil && !reflect.DeepEqual(again, content{c.overrides, kept}) {
		err = errors.New("the content differs")
	}
	if err != nil {
		return nil, fmt.Errorf("write overrides as YAML: read them back: %w", err)
	}
	return text, nil
}

// format formats the content as data for the ConfigMap. It keeps as many of the newest changes
// as the limits allow, but at least one.
func format(c content) (data map[string]string, kept []Change, err error) {
	overrides := list{map[string]entry{}}
	for nodeType, o := range c.overrides {
		overrides.Overrides[nodeType] = entryOf(o)
	}
	text, err := yaml.Marshal(overrides)
	if err != nil {
		return nil, nil, err
	}
	lines, kept, err := lines(c.changes)
	if err != nil {
		return nil, nil, err
	}
	return map[string]string{Key: preamble + string(text), HistoryKey: historyPreamble + "changes:\n" + lines}, kept, nil
}

// lines formats each change on its own line.
func lines(changes []Change) (text string, kept []Change, err error) {
	var newest []string
	size := len(historyPreamble)
	for i := len(changes) - 1; i >= 0 && len(newest) < maxChanges; i-- {
		line, err := json.Marshal(changeEntryOf(changes[i]))
		if err != nil {
			return "", nil, err
		}
		if size += len(line) + len("- \n"); size > maxHistoryBytes && len(newest) > 0 {
			break
		}
		newest = append(newest, string(line))
	}
	var b strings.Builder
	for i := len(newest) - 1; i >= 0; i-- {
		b.WriteString("- " + newest[i] + "\n")
	}
	return b.String(), changes[len(changes)-len(newest):], nil
}

func entryOf(o Override) entry {
	p := o.Provenance
	e := entry{CPUPerf: o.CPUPerf, MemoryPerf: o.MemoryPerf, Author: p.Author, Credential: p.CredentialID, Reason: p.Reason, UpdateTime: document.TimeText(p.UpdateTime), ExpireTime: document.TimeText(o.ExpireTime)}
	if o.Fallback != nil {
		fallback := entryOf(Override{Ratio: *o.Fallback})
		e.Fallback = &fallback
	}
	return e
}

func changeEntryOf(c Change) changeEntry {
	e := changeEntry{Number: c.Number, Time: document.TimeText(c.Time), Author: c.Author, Credential: c.CredentialID, Reason: c.Reason, RollbackTo: c.RollbackTo, Expiry: c.Expiry, RequestID: c.RequestID, RequestDigest: c.RequestDigest}
	for _, d := range c.Deltas {
		e.Deltas = append(e.Deltas, deltaEntry{d.NodeType, valueEntryOf(d.From), valueEntryOf(d.To)})
	}
	return e
}

func valueEntryOf(v *Value) *valueEntry {
	if v == nil {
		return nil
	}
	return &valueEntry{v.CPUPerf, v.MemoryPerf, document.TimeText(v.ExpireTime), valueEntryOf(v.Fallback)}
}
