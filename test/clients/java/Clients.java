// The vendor's Java client and the Flight SQL JDBC driver, unmodified.
// Run by native-clients.test.ts with the server's HOST:PORT. The database `big` holds a million rows. Prints one JSON object of findings.
import com.influxdb.v3.client.InfluxDBClient;
import com.influxdb.v3.client.Point;
import com.influxdb.v3.client.query.QueryOptions;
import com.influxdb.v3.client.query.QueryType;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.Timestamp;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

public class Clients {
  static String json(Object value) {
    if (value == null) return "null";
    if (value instanceof Map<?, ?> map) {
      List<String> members = new ArrayList<>();
      map.forEach((name, member) -> members.add(json(name) + ":" + json(member)));
      return "{" + String.join(",", members) + "}";
    }
    if (value instanceof List<?> list) return "[" + String.join(",", list.stream().map(Clients::json).toList()) + "]";
    if (value instanceof Integer || value instanceof Long) return value.toString();
    StringBuilder text = new StringBuilder("\"");
    for (char c : value.toString().toCharArray()) {
      if (c == '"' || c == '\\') text.append('\\').append(c);
      else if (c < ' ') text.append(String.format("\\u%04x", (int) c));
      else text.append(c);
    }
    return text.append('"').toString();
  }

  interface Call {
    void run() throws Exception;
  }

  static String errorOf(Call call) {
    try {
      call.run();
    } catch (Throwable error) {
      StringBuilder text = new StringBuilder();
      for (Throwable cause = error; cause != null; cause = cause.getCause()) text.append(cause.getMessage()).append("; ");
      return text.toString();
    }
    return null;
  }

  static List<List<Object>> rows(Stream<Object[]> stream) {
    try (stream) {
      List<List<Object>> rows = new ArrayList<>();
      stream.forEach(row -> {
        List<Object> texts = new ArrayList<>();
        for (Object value : row) texts.add(value == null ? null : value.toString());
        rows.add(texts);
      });
      return rows;
    }
  }

  static Map<String, Object> vendor(String address) throws Exception {
    try (InfluxDBClient client = InfluxDBClient.getInstance("http://" + address, "any".toCharArray(), "java")) {
      Point point = Point.measurement("weather").setTag("city", "Zürich, CH").setField("temp", -3.25).setField("humidity", 81L)
          .setField("rain", true).setField("note", "a \"quoted\"\nnote").setTimestamp(Instant.ofEpochSecond(1_700_000_000L, 123_456_789));
      client.writePoint(point);
      client.writeRecord("weather,city=Oslo temp=1,station=9007199254740993u 1");
      long[] million = {0, 0};
      Set<Object> hosts = new HashSet<>();
      try (Stream<Object[]> stream = client.query("SELECT host, n FROM million", new QueryOptions("big", QueryType.SQL))) {
        stream.forEach(row -> {
          million[0]++;
          million[1] += ((Number) row[1]).longValue();
          hosts.add(row[0]);
        });
      }
      List<Object> points = new ArrayList<>();
      try (var stream = client.queryPoints("SELECT city, temp, rain, time FROM weather ORDER BY time")) {
        stream.forEach(values -> points.add(List.of(values.getTag("city"), values.getFloatField("temp").toString())));
      }
      Map<String, Object> found = new TreeMap<>();
      found.put("sql", rows(client.query("SELECT city, humidity, note, rain, station, temp, time FROM weather ORDER BY time DESC")));
      found.put("influxql", rows(client.query("SELECT temp FROM weather GROUP BY city", new QueryOptions("java", QueryType.InfluxQL))));
      found.put("params", rows(client.query("SELECT temp FROM weather WHERE city = $c AND temp > $t", Map.of("c", "Oslo", "t", 0.5))));
      found.put("points", points);
      found.put("million", List.of(million[0], million[1], hosts.size()));
      found.put("errors", List.of(
          errorOf(() -> rows(client.query("SELECT * FROM nothing"))),
          errorOf(() -> rows(client.query("SELECT 1", new QueryOptions("nowhere", QueryType.SQL)))),
          errorOf(() -> rows(client.query("SELEC 1")))));
      return found;
    }
  }

  static List<List<Object>> rows(ResultSet set) throws Exception {
    try (set) {
      List<List<Object>> rows = new ArrayList<>();
      while (set.next()) {
        List<Object> row = new ArrayList<>();
        for (int at = 1; at <= set.getMetaData().getColumnCount(); at++) row.add(set.getString(at));
        rows.add(row);
      }
      return rows;
    }
  }

  static Map<String, Object> jdbc(String address) throws Exception {
    Map<String, Object> found = new TreeMap<>();
    String url = "jdbc:arrow-flight-sql://" + address + "?useEncryption=false&database=";
    try (Connection connection = DriverManager.getConnection(url + "java")) {
      found.put("rows", rows(connection.createStatement().executeQuery("SELECT city, temp FROM weather ORDER BY time")));
      try (PreparedStatement two = connection.prepareStatement("SELECT city, temp FROM weather WHERE city = ? AND temp > ?")) {
        List<Object> again = new ArrayList<>();
        for (Object[] values : new Object[][] {{"Oslo", 0.5}, {"Zürich, CH", -4.0}, {"nowhere", 0.0}}) {
          two.setString(1, (String) values[0]);
          two.setDouble(2, (Double) values[1]);
          again.add(rows(two.executeQuery()));
        }
        found.put("again", again);
      }
      Map<String, Object> types = new TreeMap<>();
      String[] columns = {"humidity", "rain", "note", "station", "time"};
      Object[] values = {81L, true, "a \"quoted\"\nnote", 9007199254740993L, new Timestamp(0)};
      String[] operators = {"=", "=", "=", "=", ">"};
      for (int i = 0; i < columns.length; i++) {
        String statement = "SELECT city FROM weather WHERE " + columns[i] + " " + operators[i] + " ? ORDER BY time";
        Object value = values[i];
        try (PreparedStatement one = connection.prepareStatement(statement)) {
          if (value instanceof Timestamp time) one.setTimestamp(1, time);
          else one.setObject(1, value);
          types.put(columns[i], rows(one.executeQuery()));
        } catch (Throwable error) {
          types.put(columns[i], String.valueOf(error));
        }
      }
      found.put("types", types);
      DatabaseMetaData about = connection.getMetaData();
      List<Object> tables = new ArrayList<>();
      try (ResultSet set = about.getTables(null, "iox", "%", null)) {
        while (set.next()) tables.add(set.getString("TABLE_NAME"));
      }
      List<Object> named = new ArrayList<>();
      try (ResultSet set = about.getColumns(null, "iox", "weather", "%")) {
        while (set.next()) named.add(set.getString("COLUMN_NAME") + " " + set.getString("TYPE_NAME"));
      }
      found.put("tables", tables);
      found.put("columns", named);
      found.put("error", errorOf(() -> connection.createStatement().executeQuery("SELECT * FROM nothing")));
    }
    try (Connection connection = DriverManager.getConnection(url + "big");
        ResultSet set = connection.createStatement().executeQuery("SELECT host, n FROM million")) {
      long count = 0, sum = 0;
      Set<String> hosts = new HashSet<>();
      while (set.next()) {
        count++;
        sum += set.getLong(2);
        hosts.add(set.getString(1));
      }
      found.put("million", List.of(count, sum, hosts.size()));
    }
    return found;
  }

  public static void main(String[] arguments) throws Exception {
    Map<String, Object> found = new TreeMap<>();
    found.put("influxdb3-java", vendor(arguments[0]));
    found.put("jdbc", jdbc(arguments[0]));
    System.out.write((json(found) + "\n").getBytes("UTF-8"));
    System.out.flush();
    System.exit(0);
  }
}
