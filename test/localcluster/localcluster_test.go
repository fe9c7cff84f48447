package localcluster

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLocalcluster(t *testing.T) {
	t.Run("Root works below other modules", rootWorksBelowOtherModules)
	t.Run("fails outside of the repository and without a binary", failsOutsideOfTheRepositoryAndWithoutABinary)
	t.Run("Namespaces come first and other objects keep their order", namespacesComeFirstAndOtherObjectsKeepTheirOrder)
	t.Run("the log keeps its end", theLogKeepsItsEnd)
	t.Run("panics are found in a log", panicsAreFoundInALog)
}

func rootWorksBelowOtherModules(t *testing.T) {
	here, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join(here, "test", "cluster"))
	got, err := Root()
	if err != nil || got != here {
		t.Errorf("got %q, %v, want %q", got, err, here)
	}
}

func failsOutsideOfTheRepositoryAndWithoutABinary(t *testing.T) {
	if _, err := Binary("no-such-binary"); err == nil || !strings.Contains(err.Error(), `run "make build"`) {
		t.Errorf("got %v, want an error that suggests make build", err)
	}
	t.Chdir(os.TempDir())
	if _, err := Root(); err == nil {
		t.Error("found a root outside of the repository")
	}
}

func namespacesComeFirstAndOtherObjectsKeepTheirOrder(t *testing.T) {
	objects, err := decode([][]byte{
		[]byte("# only a comment\n---\nkind: ConfigMap\nmetadata: {name: a}\n---\nkind: Namespace\nmetadata: {name: b}\n"),
		[]byte("kind: ConfigMap\nmetadata: {name: c}\n---\n"),
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, object := range objects {
		got = append(got, object.GetName())
	}
	if diff := cmp.Diff([]string{"b", "a", "c"}, got); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

func theLogKeepsItsEnd(t *testing.T) {
	log := &tailBuffer{limit: 8}
	for _, part := range []string{"abc", "def", "ghi", "j"} {
		if _, err := log.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	if got := log.String(); got != "fghij" {
		t.Errorf("got %q, want %q", got, "fghij")
	}
}

func TestAddressesDiffer(t *testing.T) {
	seen := map[string]bool{}
	for range 20 {
		address, err := FreeAddress("")
		if err != nil {
			t.Fatal(err)
		}
		if seen[address] {
			t.Fatalf("got %s twice", address)
		}
		seen[address] = true
	}
}

func panicsAreFoundInALog(t *testing.T) {
	for log, want := range map[string]string{
		"":                              "",
		"level=INFO msg=Ready\n":        "",
		"a\npanic: boom\n\ngoroutine 1": "panic: boom",
		"a\nlevel=ERROR msg=\"Call panicked\" err=boom\nb\n": `level=ERROR msg="Call panicked" err=boom`,
	} {
		if got := panicLine(log); got != want {
			t.Errorf("%q: got %q, want %q", log, got, want)
		}
	}
}
