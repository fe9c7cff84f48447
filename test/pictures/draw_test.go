package pictures

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

func TestDraw(t *testing.T) {
	t.Run("a terminal has one text for each line", aTerminalHasOneTextForEachLine)
	t.Run("a dashboard has each panel of its file with its figures", aDashboardHasEachPanelOfItsFileWithItsFigures)
	t.Run("the documentation shows the pictures", theDocumentationShowsThePictures)
}

// texts returns the texts of an SVG image, which must be well-formed.
func texts(t *testing.T, image string) (all []string) {
	t.Helper()
	decoder, inside := xml.NewDecoder(strings.NewReader(image)), false
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			inside = token.Name.Local == "text"
		case xml.EndElement:
			inside = false
		case xml.CharData:
			if inside {
				all = append(all, string(token))
			}
		}
	}
}

func aTerminalHasOneTextForEachLine(t *testing.T) {
	lines := []string{"$ resizectl plan", "POD   CPU", "a<b>  1 → 800m & more"}
	if got := texts(t, terminal("a & b", lines)); strings.Join(got, "\n") != strings.Join(lines, "\n") {
		t.Errorf("%q", got)
	}
}

func root(t *testing.T) string {
	t.Helper()
	root, err := localcluster.Root()
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// overview reads the first rows of the real dashboard.
func overview(t *testing.T) dashboard {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root(t), "deploy", "monitoring", "dashboard.json"))
	if err != nil {
		t.Fatal(err)
	}
	d, err := readDashboard(content, "Ratios")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func aDashboardHasEachPanelOfItsFileWithItsFigures(t *testing.T) {
	d, begin := overview(t), time.Unix(1_800_000_000, 0)
	end := begin.Add(time.Minute)
	points := func(values ...float64) (all []model.SamplePair) {
		for i, v := range values {
			all = append(all, model.SamplePair{Timestamp: model.TimeFromUnix(begin.Unix() + int64(i)*30), Value: model.SampleValue(v)})
		}
		return all
	}
	image := d.draw(map[string][]line{
		"Pods": {{"value", points(10, 20, 42)}}, "Pods by decision": {{"resize", points(1, 2, 3)}, {"skip <>", points(3, 2, 1)}},
		"Skipped pods by reason": {{"Paused", points(3, 3, 3)}, {"UnknownNodeType", points(7, 7, 7)}, {"NotOwned", points(9, 9)}},
		"Holds in effect":        {{"value", points(0, 1, 1)}},
		"Memory freed and added": {{"freed", points(0, 96<<20)}},
	}, begin, end)
	all := "\n" + strings.Join(texts(t, image), "\n") + "\n"
	for _, p := range d.Panels {
		if !strings.Contains(all, "\n"+p.Title+"\n") {
			t.Errorf("no panel %s", p.Title)
		}
	}
	for _, want := range []string{"\n42\n", "\nyes\n", "\nskip <>\n", "\nUnknownNodeType\n7\nPaused\n3\n", "\n0 MiB\n50 MiB\n100 MiB\n", "\n0\n1\n2\n3\n", "\nNo data\n"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in %q", want, all)
		}
	}
	if strings.Contains(all, "NotOwned") {
		t.Error("a reason that no longer applies is in the table")
	}
	// Both lines go from left to right, one up and one down.
	if strings.Count(image, "<polyline") != 3 {
		t.Errorf("%d lines", strings.Count(image, "<polyline"))
	}
}

func theDocumentationShowsThePictures(t *testing.T) {
	for name, page := range map[string]string{"requests.svg": "README.md", "plan.svg": "README.md", "dashboard.svg": "docs/tasks/prometheus.md", "console.png": "docs/tasks/look-at-the-cluster.md", "workload.png": "docs/tasks/look-at-the-cluster.md"} {
		text, err := os.ReadFile(filepath.Join(root(t), page))
		if err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(filepath.Join(root(t), "docs", "pictures", name))
		if err != nil {
			t.Errorf("%v: run make pictures", err)
		} else if !strings.Contains(string(text), "pictures/"+name) {
			t.Errorf("%s does not show %s", page, name)
		}
		if strings.HasSuffix(name, ".png") {
			if shot, err := png.DecodeConfig(bytes.NewReader(content)); err != nil || shot.Width < 1000 {
				t.Errorf("%s has %d pixels in a row: %v", name, shot.Width, err)
			}
			continue
		}
		all := texts(t, string(content))
		if len(all) < 10 {
			t.Errorf("%s is nearly empty", name)
		}
		info, _ := contract.NotOwned.Info()
		remedy := "Remedy for NotOwned: " + strings.ReplaceAll(info.Remedy, "`", "") + "."
		if says := func(text string) bool { return strings.HasSuffix(text, remedy) }; name == "plan.svg" && !slices.ContainsFunc(all, says) {
			t.Errorf("%s does not show what resizectl explain prints, %q: run make pictures", name, remedy)
		}
	}
}
