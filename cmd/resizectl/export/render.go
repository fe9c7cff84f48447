package export

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/export/tree"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// render returns the objects that a command prints.
func render(ctx context.Context, command string, errOut io.Writer) ([]map[string]any, error) {
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", command)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, errOut
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("run --render %q: %w: check that it prints manifests", command, err)
	}
	all, err := objectsIn(out.Bytes())
	if err != nil {
		return nil, fmt.Errorf("read what --render %q prints: %w: check that it prints manifests", command, err)
	}
	return all, nil
}

func objectsIn(text []byte) (all []map[string]any, err error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var object map[string]any
		switch err := decoder.Decode(&object); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, err
		case object == nil:
			continue
		}
		items, isList := object["items"].([]any)
		if kind, _ := object["kind"].(string); !isList || !strings.HasSuffix(kind, "List") {
			all = append(all, object)
			continue
		}
		for _, item := range items {
			if inner, ok := item.(map[string]any); ok {
				all = append(all, inner)
			}
		}
	}
}

// random replaces the values that differ between two renders of the same files, such as names that Helm makes up, in
// both of them and in a later render. Values that the first two have alike stay.
func random(first, second, later any) (before, after any) {
	switch first := first.(type) {
	case map[string]any:
		second, isMap := second.(map[string]any)
		later, alsoMap := later.(map[string]any)
		if !isMap || !alsoMap {
			break
		}
		for key := range first {
			_, inSecond := second[key]
			if _, inLater := later[key]; inSecond && inLater {
				first[key], later[key] = random(first[key], second[key], later[key])
			}
		}
		return first, later
	case []any:
		second, isList := second.([]any)
		later, alsoList := later.([]any)
		if !isList || !alsoList || len(first) != len(second) || len(first) != len(later) {
			break
		}
		for i := range first {
			first[i], later[i] = random(first[i], second[i], later[i])
		}
		return first, later
	}
	if reflect.DeepEqual(first, second) {
		return first, later
	}
	return nil, nil
}

// intended returns an error unless exactly the amounts of the plans differ. again is a second render of the files before.
func intended(before, again, after []map[string]any, plans []*plan) error {
	if len(again) == len(before) && len(after) == len(before) {
		for i := range before {
			random(before[i], again[i], after[i])
		}
	}
	for _, p := range plans {
		if err := p.apply(before); err != nil {
			return err
		}
	}
	if len(before) != len(after) {
		return fmt.Errorf("--render prints %d objects instead of %d", len(after), len(before))
	}
	for i := range before {
		canonical(before[i])
		canonical(after[i])
		if !reflect.DeepEqual(before[i], after[i]) {
			return fmt.Errorf("--render shows a different %s, not only the intended amounts", nameOf(before[i]))
		}
	}
	return nil
}

func nameOf(object map[string]any) string {
	metadata, _ := object["metadata"].(map[string]any)
	return fmt.Sprintf("%v %v", object["kind"], metadata["name"])
}

// apply changes the object of the workload as planned.
func (p *plan) apply(objects []map[string]any) error {
	var found []map[string]any
	for _, object := range objects {
		metadata, _ := object["metadata"].(map[string]any)
		namespace, _ := metadata["namespace"].(string)
		if object["kind"] == p.workload.kind && metadata["name"] == p.workload.name && (namespace == "" || namespace == p.workload.namespace) {
			found = append(found, object)
		}
	}
	if len(found) != 1 {
		return fmt.Errorf("--render prints %d objects that may be %s instead of 1", len(found), p.workload)
	}
	for _, c := range containersOf(found[0]) {
		if c["name"] != p.container {
			continue
		}
		resources := inner(c, "resources")
		for i := range p.changes {
			inner(resources, p.changes[i].Field())[p.changes[i].Of.Name] = p.changes[i].To
		}
		return p.bounded(resources)
	}
	return fmt.Errorf("--render prints no container %s of %s", p.container, p.workload)
}

// bounded returns an error if a request is above its limit, which another file may have.
func (p *plan) bounded(resources map[string]any) error {
	for i := range p.changes {
		name := p.changes[i].Of.Name
		requests, _ := resources["requests"].(map[string]any)
		limits, _ := resources["limits"].(map[string]any)
		request, errRequest := sizing.Quantity(fmt.Sprint(requests[name]))
		limit, errLimit := sizing.Quantity(fmt.Sprint(limits[name]))
		if errRequest == nil && errLimit == nil && request.Cmp(limit) > 0 {
			return fmt.Errorf("--render shows that %s would request more %s (%v) than its limit (%v)", p, name, requests[name], limits[name])
		}
	}
	return nil
}

// inner returns a mapping in a mapping, which gets one if there is none.
func inner(m map[string]any, key string) map[string]any {
	found, _ := m[key].(map[string]any)
	if found == nil {
		found = map[string]any{}
		m[key] = found
	}
	return found
}

func containersOf(object map[string]any) (all []map[string]any) {
	kind, _ := object["kind"].(string)
	spec := object
	for _, key := range tree.Keys(kind) {
		if spec, _ = spec[key].(map[string]any); spec == nil {
			return nil
		}
	}
	for _, in := range tree.Lists {
		list, _ := spec[in].([]any)
		for _, item := range list {
			if c, ok := item.(map[string]any); ok {
				all = append(all, c)
			}
		}
	}
	return all
}

// canonical writes the amounts of an object's containers in one notation.
func canonical(object map[string]any) {
	for _, c := range containersOf(object) {
		resources, _ := c["resources"].(map[string]any)
		for _, field := range fields {
			amounts, _ := resources[field].(map[string]any)
			for name, amount := range amounts {
				if q, err := sizing.Quantity(fmt.Sprint(amount)); err == nil {
					amounts[name] = q.AsDec().String()
				}
			}
		}
	}
}
