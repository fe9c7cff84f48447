package pictures

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"
)

// dashboard is the part of a Grafana dashboard that is drawn.
type dashboard struct {
	Title  string  `json:"title"`
	Panels []panel `json:"panels"`
}

// panel is a panel of a dashboard: a row, or one of the types stat, timeseries and table.
type panel struct {
	Type    string `json:"type"`
	Title   string `json:"title"`
	GridPos struct {
		X, Y, W, H int
	} `json:"gridPos"`
	Targets []struct {
		Expr         string `json:"expr"`
		LegendFormat string `json:"legendFormat"`
	} `json:"targets"`
	FieldConfig struct {
		Defaults struct {
			Unit     string    `json:"unit"`
			Mappings []mapping `json:"mappings"`
		} `json:"defaults"`
	} `json:"fieldConfig"`
}

// mapping replaces values with texts.
type mapping struct {
	Options map[string]struct {
		Text string `json:"text"`
	} `json:"options"`
}

// text returns a value as a stat shows it.
func (p *panel) text(value float64) string {
	text := amount(value, p.FieldConfig.Defaults.Unit)
	for _, m := range p.FieldConfig.Defaults.Mappings {
		if mapped, ok := m.Options[text]; ok {
			return mapped.Text
		}
	}
	return text
}

// line is one line of a panel.
type line struct {
	name   string
	points []model.SamplePair
}

// readDashboard reads the rows of a dashboard up to and without the given one.
func readDashboard(content []byte, end string) (d dashboard, err error) {
	if err := json.Unmarshal(content, &d); err != nil {
		return d, fmt.Errorf("read the dashboard: %w", err)
	}
	i := slices.IndexFunc(d.Panels, func(p panel) bool { return p.Type == "row" && p.Title == end })
	if i < 0 {
		return d, fmt.Errorf("the dashboard has no row %s", end)
	}
	d.Panels = d.Panels[:i]
	return d, nil
}

// query returns an expression with its variables replaced.
func query(expr string) string {
	return strings.NewReplacer("$job", ".+", "$__rate_interval", "15s", "$__range", "5m").Replace(expr)
}

var labelInLegend = regexp.MustCompile(`\{\{\s*(\w+)\s*\}\}`)

// legend returns the name of a line, as Grafana writes it.
func legend(format string, labels model.Metric) string {
	if format == "" || format == "__auto" {
		var values []string
		for _, name := range slices.Sorted(maps.Keys(labels)) {
			if name != model.MetricNameLabel {
				values = append(values, string(labels[name]))
			}
		}
		return cmp.Or(strings.Join(values, " "), "value")
	}
	return labelInLegend.ReplaceAllStringFunc(format, func(text string) string {
		return string(labels[model.LabelName(labelInLegend.FindStringSubmatch(text)[1])])
	})
}

// amount returns a number in the unit of a panel.
func amount(value float64, unit string) string {
	switch {
	case math.IsNaN(value):
		return "–"
	case unit == "bytes":
		return strconv.FormatFloat(value/(1<<20), 'f', 0, 64) + " MiB"
	case unit == "s":
		return strconv.FormatFloat(value*1000, 'f', 0, 64) + " ms"
	case unit == "ops":
		return strconv.FormatFloat(value, 'g', 3, 64) + "/s"
	}
	return strconv.FormatFloat(value, 'g', 4, 64)
}

// The size of a cell of the grid, and the space between panels, in pixels.
const (
	cellWidth, cellHeight = 50, 34
	gap                   = 8
)

var colors = []string{"#73bf69", "#f2cc0c", "#8ab8ff", "#ff780a", "#f2495c", "#b877d9", "#5794f2", "#ffa6b0"}

// draw returns an SVG image of a dashboard. lines has the data of each panel, which begins at begin
// and ends at end.
func (d *dashboard) draw(lines map[string][]line, begin, end time.Time) string {
	bottom := 0
	for _, p := range d.Panels {
		bottom = max(bottom, p.GridPos.Y+p.GridPos.H)
	}
	width, height := 24*cellWidth+gap, bottom*cellHeight+gap
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="sans-serif" font-size="12" fill="#ccccdc">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, `<title>%s</title>`+"\n"+`<rect width="%d" height="%d" fill="#111217"/>`+"\n", html.EscapeString(d.Title), width, height)
	for _, p := range d.Panels {
		box := area{x: float64(p.GridPos.X*cellWidth + gap), y: float64(p.GridPos.Y*cellHeight + gap), w: float64(p.GridPos.W*cellWidth - gap), h: float64(p.GridPos.H*cellHeight - gap)}
		if p.Type == "row" {
			fmt.Fprintf(&b, `<text x="%.0f" y="%.0f" font-size="15">%s</text>`+"\n", box.x, box.y+18, html.EscapeString(p.Title))
			continue
		}
		fmt.Fprintf(&b, `<rect x="%.0f" y="%.0f" width="%.0f" height="%.0f" rx="3" fill="#181b1f" stroke="#2c3235"/>`+"\n", box.x, box.y, box.w, box.h)
		fmt.Fprintf(&b, `<text x="%.0f" y="%.0f" font-weight="bold">%s</text>`+"\n", box.x+10, box.y+20, html.EscapeString(p.Title))
		inside := area{box.x + 10, box.y + 30, box.w - 20, box.h - 38}
		switch unit, all := p.FieldConfig.Defaults.Unit, lines[p.Title]; p.Type {
		case "stat":
			inside.stat(&b, current(all, end), p.text)
		case "table":
			inside.table(&b, current(all, end), unit)
		default:
			inside.chart(&b, all, unit, begin, end)
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// area is a rectangle in pixels.
type area struct{ x, y, w, h float64 }

// last returns the newest value of a line.
func (l *line) last() float64 {
	if len(l.points) == 0 {
		return math.NaN()
	}
	return float64(l.points[len(l.points)-1].Value)
}

// current returns the lines that have a value at the end, as an instant query does. Others, such as
// those of reasons that no longer apply, ended before.
func current(lines []line, end time.Time) (found []line) {
	for _, l := range lines {
		if n := len(l.points); n > 0 && end.Sub(l.points[n-1].Timestamp.Time()) < staleness {
			found = append(found, l)
		}
	}
	return found
}

// staleness is more than the interval of scrapes and the step of queries.
const staleness = 10 * time.Second

// stat draws the newest values.
func (a area) stat(b *strings.Builder, lines []line, textOf func(float64) string) {
	var texts []string
	for i := range lines {
		text := textOf(lines[i].last())
		if len(lines) > 1 {
			text = lines[i].name + " " + text
		}
		texts = append(texts, text)
	}
	size := 30.0
	if len(texts) > 1 {
		size = 13
	}
	for i, text := range texts {
		fmt.Fprintf(b, `<text x="%.0f" y="%.0f" font-size="%.0f" fill="#73bf69" text-anchor="middle">%s</text>`+"\n", a.x+a.w/2, a.y+a.h/2+size/3+(float64(i)-float64(len(texts)-1)/2)*size*1.4, size, html.EscapeString(text))
	}
}

// table draws the newest value of each line.
func (a area) table(b *strings.Builder, lines []line, unit string) {
	slices.SortStableFunc(lines, func(x, y line) int { return cmp.Compare(y.last(), x.last()) })
	for i := range lines {
		y := a.y + 16 + float64(i)*20
		if y > a.y+a.h {
			break
		}
		fmt.Fprintf(b, `<text x="%.0f" y="%.0f">%s</text><text x="%.0f" y="%.0f" text-anchor="end">%s</text>`+"\n", a.x+6, y, html.EscapeString(lines[i].name), a.x+a.w-6, y, amount(lines[i].last(), unit))
	}
}

// stepOf returns a round distance between the marks of an axis, which has up to five of them.
func stepOf(size float64, unit string) float64 {
	scale := 1.0
	if unit == "bytes" {
		scale = 1 << 20
	}
	if size == 0 {
		return scale
	}
	step := math.Pow(10, math.Floor(math.Log10(size/scale/4))) * scale
	for _, factor := range []float64{1, 2, 5} {
		if size/(step*factor) <= 4 {
			return step * factor
		}
	}
	return step * 10
}

// legendRest is the space that a legend leaves for how many lines have no room.
const legendRest = 60

// chart draws lines over time, with their names below.
func (a area) chart(b *strings.Builder, lines []line, unit string, begin, end time.Time) {
	least, most := math.Inf(1), math.Inf(-1)
	for _, l := range lines {
		for _, p := range l.points {
			if v := float64(p.Value); !math.IsNaN(v) {
				least, most = min(least, v), max(most, v)
			}
		}
	}
	if least > most {
		fmt.Fprintf(b, `<text x="%.0f" y="%.0f" text-anchor="middle" fill="#8e8e9b">No data</text>`+"\n", a.x+a.w/2, a.y+a.h/2)
		return
	}
	least = min(least, 0)
	step := stepOf(most-least, unit)
	least, most = math.Floor(least/step)*step, math.Ceil(most/step)*step
	if most == least {
		most += step
	}
	plot := area{a.x + 62, a.y + 8, a.w - 62, a.h - 32}
	for i := range int(math.Round((most-least)/step)) + 1 {
		value := least + step*float64(i)
		y := plot.y + plot.h*(1-(value-least)/(most-least))
		fmt.Fprintf(b, `<line x1="%.0f" y1="%.1f" x2="%.0f" y2="%.1f" stroke="#2c3235"/><text x="%.0f" y="%.1f" font-size="10" text-anchor="end">%s</text>`+"\n", plot.x, y, plot.x+plot.w, y, plot.x-6, y+4, amount(value, unit))
	}
	whole := end.Sub(begin).Seconds()
	for i, l := range lines {
		var path []string
		for _, p := range l.points {
			if v := float64(p.Value); !math.IsNaN(v) {
				path = append(path, fmt.Sprintf("%.0f,%.1f", plot.x+plot.w*p.Timestamp.Time().Sub(begin).Seconds()/whole, plot.y+plot.h*(1-(v-least)/(most-least))))
			}
		}
		fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="1.5"/>`+"\n", strings.Join(path, " "), colors[i%len(colors)])
	}
	x := plot.x
	for i, l := range lines {
		wide := float64(len(l.name))*6 + 26
		if x+wide > a.x+a.w-legendRest {
			fmt.Fprintf(b, `<text x="%.0f" y="%.0f" font-size="10" fill="#8e8e9b">and %d more</text>`+"\n", x, a.y+a.h-2, len(lines)-i)
			break
		}
		fmt.Fprintf(b, `<rect x="%.0f" y="%.0f" width="10" height="3" fill="%s"/><text x="%.0f" y="%.0f" font-size="10">%s</text>`+"\n", x, a.y+a.h-7, colors[i%len(colors)], x+14, a.y+a.h-2, html.EscapeString(l.name))
		x += wide
	}
}
