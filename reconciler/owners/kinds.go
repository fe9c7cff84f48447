package owners

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/util/validation"
)

// CheckKinds returns an error that lists all faults of the names of kinds, as safety.Names reads them.
func CheckKinds(names []string) error {
	if len(names) == 0 {
		return errors.New("must name at least one kind")
	}
	var errs []error
	for _, name := range names {
		if err := checkKind(name); err != nil {
			errs = append(errs, fmt.Errorf("%q: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

func checkKind(name string) error {
	kind, group, grouped := strings.Cut(name, ".")
	version, rest, versioned := strings.Cut(group, ".")
	switch {
	case kind == "":
		return errors.New("must not be empty")
	case !grouped:
		return nil
	case !unicode.IsUpper(rune(kind[0])):
		return errors.New("must be a kind as in manifests, followed by its API group, such as CloneSet.apps.kruise.io")
	case versioned && isVersion(version):
		return fmt.Errorf("must not have a version: use %s.%s", kind, rest)
	case len(validation.IsDNS1123Subdomain(group)) > 0:
		return fmt.Errorf("%q is not an API group", group)
	}
	return nil
}
