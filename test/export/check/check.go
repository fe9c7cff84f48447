package check

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Changes returns an error unless two texts of a file differ only in amounts.
func Changes(before, after []byte) error {
	if err := lines(string(before), string(after)); err != nil {
		return err
	}
	return values(before, after)
}

var (
	// amount is a quantity with its quotes, after a key.
	amount = regexp.MustCompile(`((?:^|[\s{,"'])["']?(?:cpu|memory)["']?\s*:\s*(?:[&!]\S+\s+)?)["']?[0-9.]+(?:m|[kMGTP]i?)?["']?`)
	// inserted is what a line may have that is inserted.
	inserted = regexp.MustCompile(`^\s*(?:["']?(?:resources|requests|limits)["']?:(?:\s*\{)?|["']?(?:cpu|memory)["']?: ["']?[0-9.]+(?:m|[kMGTP]i?)?["']?,?|\},?)\s*$`)
	// braces are what is inserted into braces. One on a line of its own has the line end before it.
	braces = regexp.MustCompile(`,?\s*["']?(?:resources|requests|limits)["']?: \{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}|,?\s*["']?(?:cpu|memory)["']?: Q|(?:^|[\s{,])["']?(?:requests|limits)["']?: \{\s*\}`)
)

// lines checks that lines differ only in amounts, and that others only have been added.
func lines(before, after string) error {
	old, updated := strings.SplitAfter(before, "\n"), strings.SplitAfter(after, "\n")
	at := 0
	for n, line := range old {
		for {
			if at >= len(updated) {
				return fmt.Errorf("line %d is missing: %q", n+1, line)
			}
			if alike(line, updated[at]) {
				at++
				break
			}
			if !inserted.MatchString(strings.TrimRight(updated[at], "\r\n")) && !laterInLine(line, updated[at]) {
				return fmt.Errorf("line %d: %q instead of %q", n+1, updated[at], line)
			}
			if laterInLine(line, updated[at]) {
				at++
				break
			}
			at++
		}
	}
	for _, line := range updated[at:] {
		if !inserted.MatchString(strings.TrimRight(line, "\r\n")) {
			return fmt.Errorf("added at the end: %q", line)
		}
	}
	return nil
}

// alike reports whether two lines are the same except for amounts.
func alike(old, updated string) bool {
	return old == updated || amount.ReplaceAllString(old, "${1}Q") == amount.ReplaceAllString(updated, "${1}Q")
}

// laterInLine reports whether a line is the other one with something inserted in braces, or with a comma or a line end
// because something follows.
func laterInLine(old, updated string) bool {
	if strings.TrimSpace(old) == "" {
		return false
	}
	strip := func(line string) string {
		line = amount.ReplaceAllString(strings.TrimRight(line, "\r\n"), "${1}Q")
		for {
			shorter := braces.ReplaceAllString(line, "")
			if shorter == line {
				break
			}
			line = shorter
		}
		return strings.NewReplacer("{ }", "{}", " ", "").Replace(strings.TrimSuffix(line, ","))
	}
	return strip(old) == strip(updated)
}

// values checks that the decoded documents differ only in amounts of containers, or of what has the same fields.
func values(before, after []byte) error {
	old, errOld := decode(before)
	updated, errNew := decode(after)
	switch {
	case errOld != nil && errNew != nil:
		return nil
	case errNew != nil:
		return fmt.Errorf("it is no longer YAML: %w", errNew)
	case len(old) != len(updated):
		return fmt.Errorf("it has %d documents instead of %d", len(updated), len(old))
	}
	for i := range old {
		if err := compare(nil, old[i], updated[i]); err != nil {
			return err
		}
	}
	return nil
}

func decode(text []byte) (all []any, err error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var value any
		switch err := decoder.Decode(&value); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, err
		}
		all = append(all, value)
	}
}

func compare(at []string, old, updated any) error {
	if reflect.DeepEqual(old, updated) {
		return nil
	}
	if isAmount(at) {
		for _, value := range []any{old, updated} {
			if _, err := resource.ParseQuantity(fmt.Sprint(value)); err != nil {
				return fmt.Errorf("%s is %v, which is not an amount", strings.Join(at, "."), value)
			}
		}
		return nil
	}
	if text, ok := old.(string); ok { // YAML in text.
		if changed, ok := updated.(string); ok && strings.Contains(text, "\n") {
			return Changes([]byte(text), []byte(changed))
		}
	}
	if old == nil {
		old = map[string]any{} // A key without a value has been given some.
	}
	switch old := old.(type) {
	case map[string]any:
		updated, ok := updated.(map[string]any)
		if !ok {
			break
		}
		for key, value := range updated {
			before, had := old[key]
			if !had && !mayInsert(append(at, key), value) {
				return fmt.Errorf("%s.%s was inserted", strings.Join(at, "."), key)
			}
			if had {
				if err := compare(append(at, key), before, value); err != nil {
					return err
				}
			}
		}
		for key := range old {
			if _, has := updated[key]; !has {
				return fmt.Errorf("%s.%s was removed", strings.Join(at, "."), key)
			}
		}
		return nil
	case []any:
		updated, ok := updated.([]any)
		if !ok || len(old) != len(updated) {
			break
		}
		for i := range old {
			if err := compare(append(at, fmt.Sprint(i)), old[i], updated[i]); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("%s is %v instead of %v", strings.Join(at, "."), updated, old)
}

// isAmount reports whether a path ends with an amount.
func isAmount(at []string) bool {
	return len(at) >= 2 && slices.Contains([]string{"cpu", "memory"}, at[len(at)-1]) && slices.Contains([]string{"requests", "limits"}, at[len(at)-2])
}

// mayInsert reports whether a value is resources, or a part of them.
func mayInsert(at []string, value any) bool {
	if isAmount(at) {
		return true
	}
	m, ok := value.(map[string]any)
	if !ok || len(m) == 0 || !slices.Contains([]string{"resources", "requests", "limits"}, at[len(at)-1]) {
		return false
	}
	for key, inner := range m {
		if !mayInsert(append(at, key), inner) {
			return false
		}
	}
	return true
}
