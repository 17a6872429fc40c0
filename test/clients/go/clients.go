// The vendor's Go client, and the Arrow project's Flight SQL client with prepared statements, on which ADBC's driver rests.
// Run by native-clients.test.ts with the server's HOST:PORT. The database `big` holds a million rows. Prints one JSON object of findings.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"time"

	"github.com/InfluxCommunity/influxdb3-go/v2/influxdb3"
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
)

const timeNs = 1_700_000_000_123_456_789

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func textOf(value any) any {
	switch v := value.(type) {
	case nil:
		return nil
	case time.Time:
		return fmt.Sprint(v.UnixNano())
	case arrow.Timestamp:
		return fmt.Sprint(int64(v))
	}
	return fmt.Sprint(value)
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func rows(client *influxdb3.Client, statement string, columns []string, params influxdb3.QueryParameters, options ...influxdb3.QueryOption) [][]any {
	found := [][]any{}
	iterator := must(client.QueryWithParameters(context.Background(), statement, params, options...))
	for iterator.Next() {
		row := []any{}
		for _, column := range columns {
			row = append(row, textOf(iterator.Value()[column]))
		}
		found = append(found, row)
	}
	if iterator.Err() != nil {
		panic(iterator.Err())
	}
	return found
}

func vendor(address string) map[string]any {
	ctx := context.Background()
	client := must(influxdb3.New(influxdb3.ClientConfig{Host: "http://" + address, Token: "any", Database: "go"}))
	defer client.Close()
	point := influxdb3.NewPointWithMeasurement("weather").SetTag("city", "Zürich, CH").SetDoubleField("temp", -3.25).
		SetIntegerField("humidity", 81).SetUIntegerField("station", math.MaxUint64).SetBooleanField("rain", true).
		SetStringField("note", `a "quoted" note`).SetTimestamp(time.Unix(0, timeNs))
	oslo := influxdb3.NewPointWithMeasurement("weather").SetTag("city", "Oslo").SetDoubleField("temp", 1).SetTimestamp(time.Unix(0, 1))
	if err := client.WritePoints(ctx, []*influxdb3.Point{point, oslo}); err != nil {
		panic(err)
	}
	every := []string{"city", "humidity", "note", "rain", "station", "temp", "time"}
	points := [][]any{}
	iterator := must(client.QueryPointValue(ctx, "SELECT * FROM weather ORDER BY time"))
	for {
		values, err := iterator.Next()
		if err == influxdb3.Done {
			break
		}
		point := must(values, err)
		tag, _ := point.GetTag("city")
		points = append(points, []any{tag, textOf(*point.GetDoubleField("temp")), len(point.GetFieldNames())})
	}
	count, sum, hosts := 0, int64(0), map[any]bool{}
	million := must(client.Query(ctx, "SELECT host, n FROM million", influxdb3.WithDatabase("big")))
	for million.Next() {
		count++
		sum += million.Value()["n"].(int64)
		hosts[million.Value()["host"]] = true
	}
	refused := func(statement, database string) string {
		_, err := client.Query(ctx, statement, influxdb3.WithDatabase(database))
		return errorText(err)
	}
	return map[string]any{
		"sql":      rows(client, "SELECT * FROM weather ORDER BY time DESC", every, nil),
		"influxql": rows(client, "SELECT temp FROM weather GROUP BY city", []string{"iox::measurement", "time", "city", "temp"}, nil, influxdb3.WithQueryType(influxdb3.InfluxQL)),
		"params":   rows(client, "SELECT temp FROM weather WHERE city = $c AND temp > $t", []string{"temp"}, influxdb3.QueryParameters{"c": "Oslo", "t": 0.5}),
		"points":   points,
		"million":  []any{count, sum, len(hosts)},
		"errors":   []string{refused("SELECT * FROM nothing", "go"), refused("SELECT 1", "nowhere"), refused("SELEC 1", "go")},
	}
}

func prepared(address string) map[string]any {
	ctx := metadata.AppendToOutgoingContext(context.Background(), "database", "go")
	client := must(flightsql.NewClient(address, nil, nil, grpc.WithTransportCredentials(insecure.NewCredentials())))
	defer client.Close()
	statement := must(client.Prepare(ctx, "SELECT city, temp FROM weather WHERE city = ? AND temp > ?"))
	schema := arrow.NewSchema([]arrow.Field{{Name: "0", Type: arrow.BinaryTypes.String}, {Name: "1", Type: arrow.PrimitiveTypes.Float64}}, nil)
	run := func(cities []string, temps []float64) [][]any {
		builder := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		builder.Field(0).(*array.StringBuilder).AppendValues(cities, nil)
		builder.Field(1).(*array.Float64Builder).AppendValues(temps, nil)
		statement.SetParameters(builder.NewRecord())
		info := must(statement.Execute(ctx))
		reader := must(client.DoGet(ctx, info.Endpoint[0].Ticket))
		found := [][]any{}
		for reader.Next() {
			record := reader.Record()
			for row := 0; row < int(record.NumRows()); row++ {
				found = append(found, []any{record.Column(0).ValueStr(row), record.Column(1).ValueStr(row)})
			}
		}
		if reader.Err() != nil {
			panic(reader.Err())
		}
		return found
	}
	_, err := client.Prepare(ctx, "SELECT * FROM nothing WHERE v > ?")
	return map[string]any{
		"dataset":    fmt.Sprint(statement.DatasetSchema().Field(0).Type),
		"parameters": fmt.Sprint(statement.ParameterSchema().Field(0).Type, " ", statement.ParameterSchema().Field(1).Type),
		"rows":       [][][]any{run([]string{"Oslo"}, []float64{0.5}), run([]string{"Zürich, CH"}, []float64{-4})},
		"batch":      run([]string{"Oslo", "nowhere", "Zürich, CH"}, []float64{0.5, 0.5, -10}),
		"error":      errorText(err),
	}
}

func main() {
	found := map[string]any{"influxdb3-go": vendor(os.Args[1]), "flightsql": prepared(os.Args[1])}
	if err := json.NewEncoder(os.Stdout).Encode(found); err != nil {
		panic(err)
	}
}
